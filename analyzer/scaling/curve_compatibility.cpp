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

/// Size, and what follows from it or repeats a run on purpose.
const std::set<std::string>& free_fields() {
  static const std::set<std::string> kFree = {"nodes",  "gpus_per_node", "seed",       "steps",
                                              "warmup", "network",       "provenance", "fingerprint"};
  return kFree;
}

std::map<std::string, std::string> curve_fields(const store::RunRecord& run) {
  std::map<std::string, std::string> fields;
  for (const auto& [name, field] : run_fields(run)) {
    if (field.defines && free_fields().count(name) == 0) fields[name] = field.text;
  }
  if (run.run_case.scaling == ScalingMode::kStrong) {
    fields.erase("batch_per_gpu");
    fields["global_batch"] = fmt::format("{}", run.run_case.global_batch());
  }
  if (run.run_case.nodes == 1) fields.erase("link");  // no link is used
  return fields;
}

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
  std::map<std::string, std::map<std::string, int>> values;
  std::map<std::string, int> runs_with_field;
  for (const store::RunRecord& run : runs) {
    for (const auto& [name, value] : curve_fields(run)) {
      ++values[name][value];
      ++runs_with_field[name];
    }
  }
  std::string reasons;
  for (auto& [name, counts] : values) {
    const int without = static_cast<int>(runs.size()) - runs_with_field[name];
    // Absent: an option that others set, but for what does not apply to a run.
    if (without > 0 && name != "link" && name != "global_batch" && name != "batch_per_gpu")
      counts[""] += without;
    if (counts.size() < 2) continue;
    reasons += fmt::format("{}{} is {}", reasons.empty() ? "" : "; ", name, counted(counts));
  }
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
