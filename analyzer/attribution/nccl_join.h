#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/facts/facts.h"
#include "core/nccl_event.h"
#include "core/span.h"

namespace ddbench::analyzer {

/// What became of the events of NCCL's profiler plug-in and of the kernels that CUPTI recorded.
struct NcclJoin {
  std::uint64_t joined = 0;                 ///< events that have their kernel, or the engine's call
  std::uint64_t events_without_kernel = 0;  ///< though kernels of NCCL were recorded on the rank
  std::uint64_t events_alone = 0;           ///< on a rank on which no kernel of NCCL was
  /// Kernels without an event although there were events: they have no key and are joined with no other
  /// rank's. Kernels of the engine have the engine's key.
  std::uint64_t kernels_without_event = 0;
  std::uint64_t numbered =
      0;  ///< kernels of a rank without events: their key is their place in the rank's order
  std::set<std::string> unknown_kernels;  ///< named nccl*, with a function unknown to ddbench
  /// How NCCL performed each kind of collective: "all_reduce 4194304 B on 4 ranks" -> "RING LL128, 8
  /// channels, socket".
  std::map<std::string, std::set<std::string>> algorithms;
  /// By key, where the GPU reported it (kNcclInitialSync): when the last rank was there, on this rank's clock.
  /// Of the rank that was joined; add() leaves them out.
  std::unordered_map<std::uint64_t, std::int64_t> all_there_ns;

  void add(const NcclJoin& other);
};

/// Gives the kernels of one rank the keys and bytes of the NCCL events that describe them, and removes the
/// events from `spans`; spans are those of a time range, in any order. The kernel of an event is the one with
/// its key (assigned by the engine; of several, the one of its function), else the one that overlaps it
/// longest, preferably of the same function, or for an event that only states when it was enqueued (it has no
/// length) the next kernel of its function without an event; such events that begin at one time have one
/// kernel. A kernel that performed several collectives (a group) becomes one span for each. If no kernels
/// were recorded, the engine's own span with the event's key takes the event's place and is unchanged; an
/// event with neither becomes a communication span of its own. Without any events (no plug-in, or a NCCL that
/// is too old), kernels without a key, except those of send and receive, are numbered in their order, which
/// is valid as long as all ranks use one communicator. `names` may grow. Algorithms are collected from events
/// marked with a step from `first_step` to `last_step`, including warm-up, because what graphs replay later
/// was reported then. Counters cover the steps after `warmup`.
NcclJoin join_nccl_events(std::vector<Span>& spans, std::vector<std::string>& names,
                          std::uint32_t first_step = 0, std::uint32_t last_step = kNoStep,
                          std::uint32_t warmup = 0);

/// For store::Environment::facts: "nccl.all_reduce 4194304 B on 4 ranks" = "RING LL128, 8 channels, socket",
/// ...; "nccl.transport"; "nccl.joined" and other counts that are not 0; "nccl.unknown_kernels".
Facts nccl_facts(const NcclJoin& join);

/// How NCCL performed collectives of this function and size in communicators of `ranks` ranks (0: not known),
/// according to these facts; several algorithms are joined by "; "; empty when the facts do not state it.
std::string nccl_algorithm_of(const Facts& facts, const std::string& function, std::uint64_t bytes, int ranks = 0);

}  // namespace ddbench::analyzer
