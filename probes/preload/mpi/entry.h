#pragma once

#include "probes/preload/mpi/library.h"

namespace ddbench::inject::mpi {

/// The program is in a function of MPI while it lives. A function of Fortran may call that of C (MPICH) or
/// not (Open MPI), and one of C another: the outermost counts.
class Entry {
 public:
  Entry() noexcept : is_outermost_(depth_++ == 0) {}
  ~Entry() { --depth_; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  /// Whether the call is to be recorded: it is the outermost, and of a library whose handles are known.
  bool is_recorded() const noexcept { return is_outermost_ && knows_library(); }
  bool is_outermost() const noexcept { return is_outermost_; }

 private:
  static inline thread_local int depth_ = 0;
  bool is_outermost_;
};

}  // namespace ddbench::inject::mpi
