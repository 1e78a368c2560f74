#include "analyzer/comparison/field_differences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/run/run_fields.h"
#include "core/facts/facts.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

/// Every value that the runs of one side have of a field.
using Values = std::map<std::string, std::set<std::string>>;

constexpr std::string_view kFactPrefix = "fact ";

constexpr std::array<std::string_view, 8> kWorkCauses{
    "workload", "workload_options", "precision", "strategy", "accumulate", "optimizer", "batch_per_gpu", kScriptField};

/// A fact that this version does not know may decide speed, if it is no count.
FactSubject subject_of(const std::string& fact) {
  if (const FactSpec* const spec = find_fact(fact)) return spec->subject;
  return fact.starts_with("counted.") ? FactSubject::kThisRun : FactSubject::kEnvironment;
}

/// A fact about the network is a consequence of the same fields as the network.
CaseField described(FactSubject subject, const CaseFields& fields) {
  if (subject == FactSubject::kNetwork)
    return {{}, FieldRole::kConsequence, false, fields.at("network").follows_from};
  // An older ddbench does not report all of them.
  if (subject == FactSubject::kWork) return {{}, FieldRole::kConsequence, false, kWorkCauses, true};
  return {{}, FieldRole::kEnvironment};
}

/// A side's fields: with the text of all of its values, and these one by one.
struct Side {
  CaseFields fields;
  Values values;

  explicit Side(std::span<const store::RunRecord> runs) {
    for (const store::RunRecord& run : runs) {
      const CaseFields own = run_fields(run);
      for (const auto& [name, field] : own) add(name, field, field.text);
      for (const auto& [fact, text] : run.environment.facts) {
        const FactSubject subject = subject_of(fact);
        if (subject != FactSubject::kThisRun)
          add(std::string(kFactPrefix) + fact, described(subject, own), text);
      }
    }
    for (auto& [name, field] : fields) field.text = fmt::format("{}", fmt::join(values[name], ", "));
  }

 private:
  void add(const std::string& name, const CaseField& field, const std::string& text) {
    fields.emplace(name, field);
    values[name].insert(text);
  }
};

/// Values that each run measures anew count as equal within a tenth.
bool is_the_same_measured(const std::string& field, const Values& a, const Values& b) {
  if (field != fmt::format("{}{}", kFactPrefix, fact_key<"device.gemm_peak_tflops">.name)) return false;
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

/// Requested fields come first, then detected ones, then consequences.
int order_of(const FieldDifference& difference) {
  return is_asked_for(difference.role) ? 0 : difference.role == FieldRole::kEnvironment ? 1 : 2;
}

}  // namespace

std::vector<FieldDifference> field_differences(std::span<const store::RunRecord> a,
                                              std::span<const store::RunRecord> b) {
  const Side left(a);
  const Side right(b);
  std::vector<FieldDifference> differences = case_diff(left.fields, right.fields);
  std::erase_if(differences, [&](const FieldDifference& difference) {
    return is_the_same_measured(difference.field, left.values, right.values);
  });
  std::stable_sort(differences.begin(), differences.end(),
                   [](const auto& x, const auto& y) { return order_of(x) < order_of(y); });
  return differences;
}

void judge(Comparison& comparison) {
  std::vector<std::string> case_changes;
  bool other_hardware = false;
  bool other_environment = false;
  for (const FieldDifference& difference : comparison.differences) {
    if (is_asked_for(difference.role)) case_changes.push_back(difference.field);
    other_hardware |= difference.field == "fingerprint";
    other_environment |= difference.role == FieldRole::kEnvironment;
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
    comparison.verdict_text = case_changes.front() == kScriptField
                                  ? "one change: the script changed"
                                  : fmt::format("one change: {}", case_changes.front());
  } else {
    comparison.verdict = ComparisonVerdict::kSeveralChanges;
    comparison.verdict_text =
        fmt::format("{} fields differ ({}): the change cannot be attributed to one of them",
                    case_changes.size(), fmt::join(case_changes, ", "));
  }
}

}  // namespace ddbench::analyzer
