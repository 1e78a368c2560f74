#include "analyzer/scaling/curve_compatibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/run/run_fields.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

std::string counted(const std::map<std::string, int>& values) {
  std::vector<std::string> parts;
  for (const auto& [value, runs] : values) {
    parts.push_back(fmt::format("{} in {} run{}", value.empty() ? "not set" : "\"" + value + "\"", runs,
                                runs == 1 ? "" : "s"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// By size, the SKUs of its runs.
std::map<std::tuple<int, int, bool>, std::set<std::string>> skus_by_size(std::span<const store::RunRecord> runs) {
  std::map<std::tuple<int, int, bool>, std::set<std::string>> skus;
  for (const store::RunRecord& run : runs)
    skus[{run.run_case.world_size(), run.run_case.nodes, run.run_case.nodes_not_stated}].insert(run.run_case.sku);
  return skus;
}

/// Points of one curve may be on different machines: a single GPU is often rented as a smaller one.
VariedFields within_curve(std::span<const store::RunRecord> runs) {
  VariedFields varied = kWithinCurve;
  const auto skus = skus_by_size(runs);
  if (std::all_of(skus.begin(), skus.end(), [](const auto& size) { return size.second.size() == 1; }))
    varied.names.insert("sku");
  return varied;
}

}  // namespace

std::string several_skus(std::span<const store::RunRecord> runs) {
  std::map<std::string, std::set<int>> sizes;
  for (const auto& [size, skus] : skus_by_size(runs)) {
    for (const std::string& sku : skus) sizes[sku].insert(std::get<0>(size));
  }
  if (sizes.size() < 2) return {};
  std::vector<std::string> parts;
  for (const auto& [sku, gpus] : sizes) {
    const bool one = gpus.size() == 1 && *gpus.begin() == 1;
    parts.push_back(fmt::format("{} GPU{} on {}", fmt::join(gpus, ", "), one ? "" : "s", sku.empty() ? "no named SKU" : sku));
  }
  return fmt::format("{} SKUs: {}", sizes.size(), fmt::join(parts, "; "));
}

void require_one_curve(std::span<const store::RunRecord> runs, std::string_view remedy) {
  std::string reasons;
  for (const auto& [name, counts] : differing_fields(runs, within_curve(runs)))
    reasons += fmt::format("{}{}{} is {}", reasons.empty() ? "" : "; ",
                           name.starts_with(kScriptPrefix) ? "the script changed: " : "", name, counted(counts));
  if (reasons.empty()) return;
  throw Error(ErrorCode::kBadInput, fmt::format("these {} runs are not one curve: {}{}{}", runs.size(), reasons,
                                                remedy.empty() ? "" : ". ", remedy));
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
