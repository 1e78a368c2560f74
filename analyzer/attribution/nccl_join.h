#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
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
  /// Though events were: they have no key, and are joined with nobody. The engine's kernels have theirs.
  std::uint64_t kernels_without_event = 0;
  std::uint64_t numbered =
      0;  ///< kernels of a rank without events: their key is their place in the rank's order
  std::set<std::string> unknown_kernels;  ///< named nccl*, of no function that ddbench knows
  /// How each kind of collective was done: "all_reduce 4194304 B on 4 ranks" -> "RING LL128, 8 channels, socket".
  std::map<std::string, std::set<std::string>> manners;

  void add(const NcclJoin& other);
};

/// Gives the kernels of one rank the keys and bytes of the events that tell of them, and takes the events out
/// of `spans`; spans are those of a time range, in any order. The kernel of an event is the one with its key
/// (the engine's; of several the one of its function), else the one that it ran longest beside, of the same
/// function where there is one, or for an event that only says when it was enqueued (it has no length) the
/// next of its function that has no event. A kernel that did several collectives (a group) becomes one span
/// for each. The engine's own span of an event's key, which it records where kernels are not, takes its
/// place and stays as it is; an event with neither becomes a communication by itself. Where there are no
/// events (no plug-in, or a NCCL that is too old), kernels without a key but those of send and receive are
/// numbered in their order, which holds as long as all ranks use one communicator. `names` may grow. Manners
/// are those of what is marked with a step from `first_step` to `last_step`: in warm-up, too, because what
/// graphs replay later was told of then. Counted is what of these comes after `warmup` steps.
NcclJoin join_nccl_events(std::vector<Span>& spans, std::vector<std::string>& names,
                          std::uint32_t first_step = 0, std::uint32_t last_step = kNoStep,
                          std::uint32_t warmup = 0);

/// For store::Environment::facts: "nccl.all_reduce 4194304 B on 4 ranks" = "RING LL128, 8 channels, socket", ...;
/// "nccl.transport"; "nccl.joined" and other counts that are not 0; "nccl.unknown_kernels".
Facts nccl_facts(const NcclJoin& join);

/// How NCCL did collectives of this function and size in communicators of `ranks` ranks (0: not known), by these facts;
/// several manners with "; " between; empty when the facts do not say.
std::string nccl_manner(const Facts& facts, const std::string& function, std::uint64_t bytes, int ranks = 0);

}  // namespace ddbench::analyzer
