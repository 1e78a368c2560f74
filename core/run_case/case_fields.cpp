#include "core/run_case/case_fields.h"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/error.h"
#include "core/library_error/outside_json.h"

namespace ddbench {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::map<std::string_view, FieldRole>& roles() {
  static const std::map<std::string_view, FieldRole> known = [] {
    std::map<std::string_view, FieldRole> by_name;
    visit_fields(static_cast<const RunCase&>(RunCase{}),
                 [&](const char* name, FieldRole role, const auto& value) {
                   by_name.emplace(name, role);
                   if constexpr (std::is_same_v<decltype(value), const Work&>) by_name.emplace(kWorkOptionsField, role);
                 });
    return by_name;
  }();
  return known;
}

/// In place of the number that stands for no limit.
void name_automatic_steps(CaseFields& fields) {
  const auto steps = fields.find("steps");
  if (steps == fields.end() || fields.at("margin").text == Json(0.0).dump()) return;
  if (steps->second.text == std::to_string(kMostSteps)) steps->second.text = "auto";
}

}  // namespace

CaseFields case_fields(const RunCase& run_case) {
  CaseFields fields;
  visit_fields(run_case, [&](const char* name, FieldRole role, const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const auto add_each = [&](const std::string& of, const WorkOptions& options) {
      for (const auto& [key, text] : options) fields[of + "." + key] = {text, role};
    };
    if constexpr (std::is_same_v<Value, Work>) {
      fields[name] = {work_name(value), role};
      add_each(kWorkOptionsField, work_options(value));
    } else if constexpr (std::is_same_v<Value, WorkOptions>) {
      add_each(name, value);
    } else if constexpr (std::is_enum_v<Value>) {
      fields[name] = {std::string(to_string(value)), role};
    } else if constexpr (std::is_same_v<Value, std::string>) {
      fields[name] = {value, role};
    } else {
      fields[name] = {Json(value).dump(), role, !std::is_same_v<Value, bool>};
    }
  });
  name_automatic_steps(fields);
  return fields;
}

CaseFields case_fields_from_json(std::string_view text) {
  check_outside_json(text);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error(ErrorCode::kBadInput, "a case cannot be read: it is no JSON object");
  CaseFields fields;
  for (const auto& [name, value] : json.items()) {
    const auto known = roles().find(name);
    const FieldRole role = known == roles().end() ? FieldRole::kIdentity : known->second;
    if (!value.is_object()) {
      fields[name] = {text_of(value), role, value.is_number()};
      continue;
    }
    for (const auto& [key, entry] : value.items()) fields[name + "." + key] = {text_of(entry), role};
  }
  // Written only where they say something.
  for (const char* name : {"margin", "max_time_s", "duration_s"})
    fields.try_emplace(name, CaseField{Json(0.0).dump(), FieldRole::kSampling, true});
  for (const char* name : {"skip", "measure"})
    fields.try_emplace(name, CaseField{Json(0).dump(), FieldRole::kSampling, true});
  fields.try_emplace("after", CaseField{"", FieldRole::kSampling});
  fields.try_emplace("nodes_not_stated", CaseField{"false", FieldRole::kScale});
  name_automatic_steps(fields);
  return fields;
}

}  // namespace ddbench
