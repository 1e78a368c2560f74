#include "told_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "ddbench/analyzer/finalize.h"

namespace ddbench::analyzer {
namespace {

constexpr std::string_view kNcclSetting = "nccl.NCCL_";

struct Told {
  std::string fact;
  std::string value;
};

/// Most names are no facts.
Told told_by(const std::string& name) {
  const std::size_t end = name.find(": ");
  return end == std::string::npos ? Told{} : Told{name.substr(0, end), name.substr(end + 2)};
}

}  // namespace

void add_told_facts(const store::RunStore& store, const store::RunId& run,
                    const std::vector<store::RankRecord>& ranks, std::map<std::string, std::string>& facts) {
  std::size_t without_kernels = 0;
  for (const store::RankRecord& rank : ranks) {
    bool has_kernels = true;
    for (const std::string& name : store.span_names(run, rank.rank)) {
      const Told told = told_by(name);
      // All ranks capture, or none, and rank 0 tells its settings. A later word is of what happened later.
      const bool is_rank_0s = told.fact == kFactCudaGraph || told.fact.starts_with(kNcclSetting);
      if (is_rank_0s && rank.rank == ranks.front().rank) facts[told.fact] = told.value;
      if (told.fact != kFactCuptiUnavailable) continue;
      facts[told.fact] = told.value;
      has_kernels = false;
    }
    without_kernels += !has_kernels;
  }
  if (without_kernels == 0 || without_kernels == ranks.size()) return;
  facts[kFactCuptiUnavailable] += fmt::format(" (on {} of {} ranks)", without_kernels, ranks.size());
}

}  // namespace ddbench::analyzer
