#include "analyzer/comparison/comparability.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "analyzer/run/run_fields.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/program_files.h"

namespace ddbench::analyzer {
namespace {

bool may_differ(const FieldDifference& difference, const std::set<std::string>& varied) {
  const std::string& field = difference.field;
  return difference.role == FieldRole::kConsequence || varied.contains(field) ||
         varied.contains(field.substr(0, field.find('.')));
}

std::vector<FieldDifference> differences(const store::RunRecord& a, const store::RunRecord& b) {
  return case_diff(run_fields(a), run_fields(b));
}

/// The values behind a fingerprint, if the facts store them: people cannot read a hash.
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
         a.run_case == b.run_case &&
         (!is_program(a.run_case) || changed_files(a.environment.facts, b.environment.facts).empty());
}

std::string script_changed(const store::RunRecord& a, const store::RunRecord& b) {
  return "the script changed: " + files_in_words(changed_files(a.environment.facts, b.environment.facts));
}

/// The first run that differs from the side's first one: a side is one case on one machine.
std::optional<std::string> mixed(std::string_view side, std::span<const store::RunRecord> runs) {
  const store::RunRecord& first = runs.front();
  for (const store::RunRecord& run : runs.subspan(1)) {
    if (plainly_alike(first, run)) continue;
    const auto found = differences(first, run);
    if (found.empty()) continue;
    if (found.front().field == kScriptField) {
      return fmt::format("the {} mixes runs that are no repetitions: {} between run {} and run {}", side,
                         script_changed(first, run), first.id, run.id);
    }
    return fmt::format("the {} mixes runs that are no repetitions: {} is {} in run {} and {} in run {}", side,
                       found.front().field, quoted_or_nothing(found.front().a), first.id,
                       quoted_or_nothing(found.front().b), run.id);
  }
  return std::nullopt;
}

std::string sentence(const FieldDifference& difference, const store::RunRecord& a,
                     const store::RunRecord& b) {
  if (difference.field == "fingerprint") {
    return fmt::format("the sides ran on different hardware (fingerprint {} | {}){}", difference.a,
                       difference.b, behind_fingerprint(a, b));
  }
  if (difference.field == kScriptField)
    return fmt::format("{} (--vary script compares the two)", script_changed(a, b));
  return fmt::format("{} differs: {} in the baseline, {} in the candidate (--vary {} compares the two)",
                     difference.field, quoted_or_nothing(difference.a), quoted_or_nothing(difference.b),
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
    if (may_differ(difference, varied)) {
      result.compared.push_back(std::move(difference));
    } else {
      result.reasons.push_back(sentence(difference, baseline.front(), candidate.front()));
      result.differences.push_back(std::move(difference));
    }
  }
  return result;
}

void check_varied_fields(const std::set<std::string>& varied) {
  const auto& known = known_run_fields();
  for (const std::string& field : varied) {
    const auto defines = [&](const std::string& name) {
      const auto found = known.find(name);
      return found != known.end() && found->second.role != FieldRole::kLabel;
    };
    if (defines(field) || defines(field + ".") || defines(field.substr(0, field.find('.') + 1))) continue;
    std::string allowed;
    for (const auto& [name, description] : known) {
      if (description.role == FieldRole::kLabel) continue;
      allowed += (allowed.empty() ? "" : ", ") + name.substr(0, name.find('.'));
    }
    throw Error(ErrorCode::kBadInput,
                fmt::format("a comparison cannot vary \"{}\"; it can vary {}", field, allowed));
  }
}

}  // namespace ddbench::analyzer
