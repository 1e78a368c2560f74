#pragma once

#include "probes/preload/mpi/collectives.h"
#include "probes/preload/mpi/communicators.h"
#include "probes/preload/mpi/entry.h"
#include "probes/preload/mpi/requests.h"

/// What a function that stands before one of MPI's does around the original. `call` calls that and returns
/// its error code, `describe` returns a Described, `request` the word of the request that the original has
/// made.
namespace ddbench::inject::mpi {

template <typename Original, typename Describe>
int blocking(const Original& call, const Describe& describe) {
  const Entry entry;
  if (!entry.is_recorded()) return call();
  const Described described = describe();
  const Call recorded(Collective{described.name, described.bytes, key_of_next(described.communicator)});
  return call();
}

template <typename Original, typename Request, typename Describe>
int nonblocking(const Original& call, const Request& request, const Describe& describe) {
  const Entry entry;
  if (!entry.is_recorded()) return call();
  const Described described = describe();
  const PendingCall pending(Collective{described.name, described.bytes, key_of_next(described.communicator)});
  const int status = call();
  if (status == kSuccess) begin(request(), pending);
  return status;
}

template <typename Original, typename Request, typename Describe>
int persistent(const Original& call, const Request& request, const Describe& describe) {
  const Entry entry;
  if (!entry.is_recorded()) return call();
  const Described described = describe();
  const Collective collective{described.name, described.bytes,
                              key_of_next_persistent(described.communicator)};
  const int status = call();
  if (status == kSuccess) initialise(request(), collective);
  return status;
}

template <typename Original>
int start(const Original& call, const Requests& requests) {
  const auto started = requests.start();
  const int status = call();
  if (status != kSuccess) return status;
  for (const auto& [request, pending] : started) begin(request, pending);
  return status;
}

}  // namespace ddbench::inject::mpi
