#include "core/run_case/case_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ddbench {
namespace {

const CaseField* find(const CaseFields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

std::string text_in(const CaseFields& fields, const std::string& name) {
  const CaseField* const field = find(fields, name);
  return field == nullptr ? std::string() : field->text;
}

/// The files of a program, one field each, as one: an edit is one change, however many files it touched.
void merge_script(std::vector<FieldDifference>& differences) {
  const auto is_file = [](const FieldDifference& difference) { return difference.field.starts_with(kScriptPrefix); };
  const auto first = std::find_if(differences.begin(), differences.end(), is_file);
  if (first == differences.end()) return;
  FieldDifference script{std::string(kScriptField), first->role, {}, {}};
  for (const FieldDifference& difference : differences) {
    if (!is_file(difference)) continue;
    const std::string name = difference.field.substr(kScriptPrefix.size());
    for (const auto& [side, hash] : {std::pair(&script.a, &difference.a), {&script.b, &difference.b}})
      *side += fmt::format("{}{} {}", side->empty() ? "" : ", ", name, *hash);
  }
  *first = std::move(script);
  differences.erase(std::remove_if(first + 1, differences.end(), is_file), differences.end());
}

}  // namespace

std::vector<FieldDifference> case_diff(const CaseFields& a, const CaseFields& b) {
  std::map<std::string, const CaseField*> differing;
  std::set<std::string, std::less<>> causes;
  for (const CaseFields* side : {&a, &b}) {
    for (const auto& [name, field] : *side) {
      if (field.role == FieldRole::kLabel || text_in(a, name) == text_in(b, name)) continue;
      if (field.unknown_where_absent && (find(a, name) == nullptr || find(b, name) == nullptr)) continue;
      differing.emplace(name, &field);
      if (is_asked_for(field.role)) causes.insert(name.substr(0, name.find('.')));
    }
  }
  std::vector<FieldDifference> differences;
  for (const auto& [name, field] : differing) {
    const bool follows =
        std::any_of(field->follows_from.begin(), field->follows_from.end(),
                    [&](std::string_view cause) { return causes.find(cause) != causes.end(); });
    const bool alone = field->role == FieldRole::kConsequence && !follows;
    differences.push_back(
        {name, alone ? FieldRole::kEnvironment : field->role, text_in(a, name), text_in(b, name)});
  }
  merge_script(differences);
  return differences;
}

std::vector<FieldDifference> case_diff(const RunCase& a, const RunCase& b) {
  return case_diff(case_fields(a), case_fields(b));
}

std::string quoted_or_nothing(std::string_view text) {
  return text.empty() ? "nothing" : fmt::format("\"{}\"", text);
}

std::string case_differences(std::string_view there, std::string_view here) {
  const CaseFields theirs = case_fields_from_json(there);
  const CaseFields ours = case_fields_from_json(here);
  const auto shown = [](const CaseFields& fields, const std::string& name) {
    const CaseField* const field = find(fields, name);
    return field != nullptr && field->numeric ? field->text : quoted_or_nothing(text_in(fields, name));
  };
  std::string text;
  for (const FieldDifference& difference : case_diff(theirs, ours)) {
    const std::string& name = difference.field;
    text += fmt::format("{}{} is {} there and {} here", text.empty() ? "" : ", ", name, shown(theirs, name),
                        shown(ours, name));
  }
  return text;
}

}  // namespace ddbench
