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

}  // namespace

std::vector<FieldDifference> case_diff(const CaseFields& a, const CaseFields& b) {
  std::map<std::string, const CaseField*> differing;
  std::set<std::string, std::less<>> causes;
  for (const CaseFields* side : {&a, &b}) {
    for (const auto& [name, field] : *side) {
      if (field.role == FieldRole::kLabel || text_in(a, name) == text_in(b, name)) continue;
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
