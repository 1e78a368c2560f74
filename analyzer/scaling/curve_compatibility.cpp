#include "analyzer/scaling/curve_compatibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <vector>

#include "analyzer/run/run_fields.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

std::string counted(const std::map<std::string, int>& values) {
  std::vector<std::string> parts;
  for (const auto& [value, runs] : values) {
    parts.push_back(fmt::format("{} in {} run{}", value.empty() ? "nothing" : "\"" + value + "\"", runs,
                                runs == 1 ? "" : "s"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void require_one_curve(std::span<const store::RunRecord> runs) {
  std::string reasons;
  for (const auto& [name, counts] : differing_fields(runs, kWithinCurve))
    reasons += fmt::format("{}{}{} is {}", reasons.empty() ? "" : "; ",
                           name.starts_with(kScriptPrefix) ? "the script changed: " : "", name, counted(counts));
  if (reasons.empty()) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "these {} runs are not one curve: {}. Choose with --where field=value, or compare them with "
          "`ddbench compare --by field`",
          runs.size(), reasons));
}

std::string mixed_provenance(std::span<const store::RunRecord> runs) {
  std::map<std::string, std::set<int>> sizes;
  for (const store::RunRecord& run : runs) {
    sizes[fmt::format("{}", fmt::join(run.provenance.names(), "+"))].insert(run.run_case.world_size());
  }
  if (sizes.size() < 2) return {};
  std::vector<std::string> parts;
  for (const auto& [provenance, gpus] : sizes) {
    parts.push_back(
        fmt::format("{} ({} GPUs)", provenance.empty() ? "unknown" : provenance, fmt::join(gpus, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

}  // namespace ddbench::analyzer
