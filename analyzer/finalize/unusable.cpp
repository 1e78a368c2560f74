#include "analyzer/finalize/unusable.h"

#include <fmt/format.h>

namespace ddbench::analyzer {

std::string unrecognised_kernels(const Facts& facts) {
  const auto alone = get_fact(facts, fact_key<"nccl.events_alone">);
  const bool has_kernels =
      has_fact(facts, fact_key<"cupti.records">) && !has_fact(facts, fact_key<"cupti.unavailable">);
  if (!alone || !has_kernels) return {};
  return fmt::format(
      "NCCL's profiler reported {} collectives on ranks where CUPTI's records have no kernel that is "
      "recognised as NCCL's: what of these is compute is not known",
      *alone);
}

std::string differing_replicas(std::span<const store::RankRecord> ranks) {
  const store::RankRecord* first = nullptr;
  for (const store::RankRecord& rank : ranks) {
    if (rank.parameter_hash.empty()) continue;
    if (first == nullptr) first = &rank;
    if (rank.parameter_hash == first->parameter_hash) continue;
    return fmt::format(
        "replicas differ after the last step: the parameters of rank {} hash to {}, those of rank {} "
        "to {}. Gradients were not averaged alike on all ranks",
        first->rank, first->parameter_hash, rank.rank, rank.parameter_hash);
  }
  return {};
}

}  // namespace ddbench::analyzer
