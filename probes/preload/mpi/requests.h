#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "probes/preload/mpi/entry.h"
#include "probes/preload/mpi/library.h"
#include "probes/preload/session.h"

/// The collectives of this process that are under way or only initialised (persistent ones), by their
/// requests. A request is an address in Open MPI and an int in MPICH and Fortran; here it is where the
/// program keeps it. Thread-safe.
namespace ddbench::inject::mpi {

inline constexpr int kSuccess = 0;  // MPI_SUCCESS, in every MPI

/// Where a program keeps requests.
struct CRequests {
  const void* at;
};
struct FortranRequests {
  const int* at;
};

/// `request` has just been made for this call.
void begin(std::uintptr_t request, const PendingCall& call) noexcept;
/// It has just been made for this persistent collective, whose key is that of its first start.
void initialise(std::uintptr_t request, const Collective& collective) noexcept;

/// The program's `count` requests as they are before a call that starts or completes some of them, and may
/// overwrite those. Lives until the call has returned.
class Requests {
 public:
  explicit Requests(Handle request) noexcept;
  Requests(CRequests requests, int count) noexcept;
  Requests(FortranRequests requests, int count) noexcept;
  /// The `index`-th is complete: records the collective that it was of, if it was of one. Other indices than
  /// those of the requests say nothing (MPI_UNDEFINED).
  void complete(int index) const noexcept;
  void complete_all() const noexcept;
  /// The program frees them: it does not want to know their end, nor start them again.
  void forget() const noexcept;
  /// The calls of those that are persistent collectives, which the program is about to start, in pairs with
  /// their requests.
  std::vector<std::pair<std::uintptr_t, PendingCall>> start() const noexcept;

 private:
  Entry entry_;
  std::vector<std::uintptr_t> requests_;  // empty while no collective is under way or initialised
};

}  // namespace ddbench::inject::mpi
