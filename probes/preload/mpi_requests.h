#pragma once

#include <vector>

#include "probes/preload/session.h"

/// The collectives of this process that are under way, by their requests. A request is an address in Open MPI
/// and an int in MPICH; here it is where the program keeps it. Thread-safe.
namespace ddbench::inject::mpi {

inline constexpr int kSuccess = 0;  // MPI_SUCCESS, in every MPI

/// `request` has just been made for this call.
void begin(const void* request, const PendingCall& call) noexcept;

/// The program's `count` requests as they are before a call that completes some of them and overwrites those.
class Requests {
 public:
  Requests(const void* requests, int count) noexcept;
  /// The `index`-th is complete: records the collective that it was of, if it was of one. Other indices than
  /// those of the requests say nothing (MPI_UNDEFINED).
  void complete(int index) const noexcept;
  void complete_all() const noexcept;
  /// The program does not want to hear of its end.
  void forget() const noexcept;

 private:
  std::vector<std::uintptr_t> requests_;  // empty while no collective is under way
};

}  // namespace ddbench::inject::mpi
