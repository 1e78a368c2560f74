#include "analyzer/comparison/comparability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyzer/run/run_fields.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

struct Consequence {
  const char* field;
  std::array<const char*, 4> follows_from;
};

constexpr std::array<Consequence, 2> kConsequences{
    {{"network", {"link", "nodes", "backend", "device"}},
     {"provenance", {"link", "nodes", "gpus_per_node", "device"}}}};

bool may_differ(const std::string& field, const std::set<std::string>& varied) {
  if (varied.contains(field) || varied.contains(field.substr(0, field.find('.')))) return true;
  return std::any_of(kConsequences.begin(), kConsequences.end(), [&](const Consequence& consequence) {
    return field == consequence.field &&
           std::any_of(consequence.follows_from.begin(), consequence.follows_from.end(),
                       [&](const char* cause) { return varied.contains(cause); });
  });
}

std::string text_of(const std::map<std::string, RunField>& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second.text;
}

std::vector<FieldDifference> differences(const store::RunRecord& a, const store::RunRecord& b) {
  const auto fields_a = run_fields(a);
  const auto fields_b = run_fields(b);
  std::vector<FieldDifference> found;
  const auto add = [&](const std::string& name, const RunField& field) {
    const std::string left = text_of(fields_a, name);
    const std::string right = text_of(fields_b, name);
    if (field.defines && left != right) found.push_back({name, left, right, a.id, b.id});
  };
  for (const auto& [name, field] : fields_a) add(name, field);
  for (const auto& [name, field] : fields_b) {
    if (!fields_a.contains(name)) add(name, field);
  }
  return found;
}

std::string shown(const std::string& value) {
  return value.empty() ? "nothing" : fmt::format("\"{}\"", value);
}

/// What a fingerprint is made of, where the stored facts tell: people cannot read a hash.
std::string behind_fingerprint(const store::RunRecord& a, const store::RunRecord& b) {
  std::string text;
  for (const char* prefix : {"cpu.", "memory.", "gpu", "governor"}) {
    for (const auto& [key, value] : a.environment.facts) {
      const auto other = b.environment.facts.find(key);
      if (!key.starts_with(prefix) || other == b.environment.facts.end() || other->second == value) continue;
      text += fmt::format("{}{} {} | {}", text.empty() ? ": " : ", ", key, value, other->second);
    }
  }
  return text;
}

/// Quicker than comparing field by field, for the many runs that are repetitions with equal labels.
bool plainly_alike(const store::RunRecord& a, const store::RunRecord& b) {
  return a.environment.fingerprint == b.environment.fingerprint &&
         a.environment.network == b.environment.network && a.provenance == b.provenance &&
         a.run_case == b.run_case;
}

/// The first run that differs from the side's first one: a side is one case on one machine.
std::optional<std::string> mixed(std::string_view side, std::span<const store::RunRecord> runs) {
  const store::RunRecord& first = runs.front();
  for (const store::RunRecord& run : runs.subspan(1)) {
    if (plainly_alike(first, run)) continue;
    const auto found = differences(first, run);
    if (found.empty()) continue;
    return fmt::format("the {} mixes runs that are no repetitions: {} is {} in run {} and {} in run {}", side,
                       found.front().field, shown(found.front().baseline), first.id,
                       shown(found.front().candidate), run.id);
  }
  return std::nullopt;
}

std::string sentence(const FieldDifference& difference, const store::RunRecord& a,
                     const store::RunRecord& b) {
  if (difference.field == "fingerprint") {
    return fmt::format("the sides ran on different hardware (fingerprint {} | {}){}", difference.baseline,
                       difference.candidate, behind_fingerprint(a, b));
  }
  return fmt::format("{} differs: {} in the baseline, {} in the candidate (--vary {} compares the two)",
                     difference.field, shown(difference.baseline), shown(difference.candidate),
                     difference.field);
}

}  // namespace

Comparability compare_sides(std::span<const store::RunRecord> baseline,
                            std::span<const store::RunRecord> candidate,
                            const std::set<std::string>& varied) {
  Comparability result;
  if (auto reason = mixed("baseline", baseline)) result.reasons.push_back(*std::move(reason));
  if (auto reason = mixed("candidate", candidate)) result.reasons.push_back(*std::move(reason));
  for (FieldDifference& difference : differences(baseline.front(), candidate.front())) {
    if (may_differ(difference.field, varied)) {
      result.compared.push_back(std::move(difference));
    } else {
      result.reasons.push_back(sentence(difference, baseline.front(), candidate.front()));
      result.differences.push_back(std::move(difference));
    }
  }
  return result;
}

std::set<std::string> differing_fields(const RunCase& a, const RunCase& b) {
  store::RunRecord left;
  store::RunRecord right;
  left.run_case = a;
  right.run_case = b;
  std::set<std::string> fields;
  for (const FieldDifference& difference : differences(left, right)) fields.insert(difference.field);
  return fields;
}

void check_varied_fields(const std::set<std::string>& varied) {
  const auto& known = known_run_fields();
  for (const std::string& field : varied) {
    const bool map = known.contains(field + ".") && known.at(field + ".").defines;
    const auto own = known.find(field);
    if (map || (own != known.end() && own->second.defines) || field.starts_with("workload_options."))
      continue;
    std::string allowed;
    for (const auto& [name, description] : known) {
      if (!description.defines) continue;
      allowed += (allowed.empty() ? "" : ", ") + name.substr(0, name.find('.'));
    }
    throw Error(ErrorCode::kBadInput,
                fmt::format("a comparison cannot vary \"{}\"; it can vary {}", field, allowed));
  }
}

}  // namespace ddbench::analyzer
