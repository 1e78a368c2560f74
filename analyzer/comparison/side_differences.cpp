#include "analyzer/comparison/side_differences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/run/run_fields.h"
#include "analyzer/run/utilisation.h"
#include "core/number.h"

namespace ddbench::analyzer {
namespace {

using Kind = SideDifference::Kind;
/// Every value that the runs of one side have of a field.
using Values = std::map<std::string, std::set<std::string>>;

constexpr std::string_view kFactPrefix = "fact ";

/// Facts that differ between any two runs and say nothing about their speed.
bool is_volatile(const std::string& fact) {
  constexpr std::string_view kVolatile[] = {
      "boot_id", "hostname", "memory.available", "network.sent_bytes",  "network.dropped", "analysis.",
      "note.",   "import.",  "command.",         "launcher.span_bytes", "counted.",        "pid"};
  if (fact.ends_with(".throttled")) return false;
  return std::any_of(std::begin(kVolatile), std::end(kVolatile),
                     [&](std::string_view prefix) { return fact.rfind(prefix, 0) == 0; });
}

Values values_of(std::span<const store::RunRecord> runs) {
  Values values;
  for (const store::RunRecord& run : runs) {
    for (const auto& [name, field] : run_fields(run)) {
      if (field.defines) values[name].insert(field.text);
    }
    for (const auto& [name, text] : run.environment.facts) {
      if (!is_volatile(name)) values[std::string(kFactPrefix) + name].insert(text);
    }
  }
  return values;
}

/// What each run measures anew is the same within a tenth.
bool is_the_same_measured(const std::string& field, const Values& a, const Values& b) {
  if (field != std::string(kFactPrefix) + kFactGemmPeak) return false;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Values* side : {&a, &b}) {
    const auto values = side->find(field);
    if (values == side->end()) return false;
    for (const std::string& text : values->second) {
      const double value = number_from<double>(text).value_or(0);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return least > 0 && most <= 1.1 * least;
}

Kind kind_of(const std::string& field, const std::set<std::string>& case_fields) {
  const auto differs = [&](std::initializer_list<const char*> causes) {
    return std::any_of(causes.begin(), causes.end(),
                       [&](const char* cause) { return case_fields.count(cause) != 0; });
  };
  if (field == "provenance") return Kind::kConsequence;
  if (field == "network")
    return differs({"link", "nodes", "backend", "device"}) ? Kind::kConsequence : Kind::kEnvironment;
  if (field == "fingerprint") return Kind::kEnvironment;
  if (field.rfind(kFactPrefix, 0) == 0) {
    const bool of_network =
        field.find("network") != std::string::npos || field.find("transport") != std::string::npos;
    const bool of_workload = field.find("workload") != std::string::npos;
    if (of_network && differs({"link", "nodes", "backend", "device"})) return Kind::kConsequence;
    return of_workload ? Kind::kConsequence : Kind::kEnvironment;
  }
  return Kind::kCase;
}

std::string joined(const Values& values, const std::string& field) {
  const auto found = values.find(field);
  if (found == values.end()) return {};
  return fmt::format("{}", fmt::join(found->second, ", "));
}

}  // namespace

std::vector<SideDifference> side_differences(std::span<const store::RunRecord> a,
                                             std::span<const store::RunRecord> b) {
  const Values values_a = values_of(a);
  const Values values_b = values_of(b);
  std::set<std::string> names;
  for (const Values* values : {&values_a, &values_b}) {
    for (const auto& [name, ignored] : *values) names.insert(name);
  }
  std::set<std::string> case_fields;
  std::vector<SideDifference> differences;
  for (const std::string& name : names) {
    SideDifference difference{Kind::kCase, name, joined(values_a, name), joined(values_b, name)};
    if (difference.a == difference.b || is_the_same_measured(name, values_a, values_b)) continue;
    if (name.rfind(kFactPrefix, 0) != 0) case_fields.insert(name);
    differences.push_back(std::move(difference));
  }
  for (SideDifference& difference : differences) difference.kind = kind_of(difference.field, case_fields);
  std::stable_sort(differences.begin(), differences.end(),
                   [](const auto& x, const auto& y) { return x.kind < y.kind; });
  return differences;
}

void judge(Comparison& comparison) {
  std::vector<std::string> case_changes;
  bool other_hardware = false;
  bool other_environment = false;
  for (const SideDifference& difference : comparison.differences) {
    if (difference.kind == Kind::kCase) case_changes.push_back(difference.field);
    other_hardware |= difference.field == "fingerprint";
    other_environment |= difference.kind == Kind::kEnvironment;
  }
  if (other_hardware) {
    comparison.verdict = ComparisonVerdict::kOtherHardware;
    comparison.verdict_text =
        "the sides ran on different hardware: what differs cannot be put down to the case alone";
  } else if (case_changes.empty()) {
    comparison.verdict = ComparisonVerdict::kRepetitions;
    comparison.verdict_text =
        other_environment ? "the same case on the same hardware; the environment differs in the facts below"
                          : "the same case on the same hardware: repetitions, unless the code differs";
  } else if (case_changes.size() == 1) {
    comparison.verdict = ComparisonVerdict::kOneChange;
    comparison.verdict_text = fmt::format("one change: {}", case_changes.front());
  } else {
    comparison.verdict = ComparisonVerdict::kSeveralChanges;
    comparison.verdict_text = fmt::format("{} fields differ ({}): no single cause can be told",
                                          case_changes.size(), fmt::join(case_changes, ", "));
  }
}

}  // namespace ddbench::analyzer
