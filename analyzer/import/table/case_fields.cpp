#include "analyzer/import/table/case_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/import/numbers.h"

namespace ddbench::imports {
namespace {

using Json = nlohmann::json;

constexpr const char* kUnnamedWorkload = "unnamed";

/// The reference engine's defaults for these are no facts about another program.
constexpr const char* kHowItTrained[] = {"precision", "strategy", "device", "backend", "optimizer"};

constexpr std::string_view kTags = "tags.";

/// Names may hold any bytes: invalid UTF-8 is replaced, as in every case that is read from JSON.
std::string as_json_keeps_it(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return text;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

FieldType type_of(const Json& value) {
  if (value.is_object()) return FieldType::kMap;
  if (value.is_string()) return FieldType::kText;
  return value.is_number_float() ? FieldType::kNumber : FieldType::kInteger;
}

}  // namespace

const std::map<std::string, FieldType>& case_fields() {
  static const std::map<std::string, FieldType> kFields = [] {
    std::map<std::string, FieldType> fields;
    const Json defaults = Json::parse(to_json(RunCase{}));
    for (const auto& [name, value] : defaults.items()) fields[name] = type_of(value);
    return fields;
  }();
  return kFields;
}

std::string wrong_with(FieldType type, std::string_view text) {
  if (type == FieldType::kInteger && !integer_from(text))
    return fmt::format("\"{}\" is not a whole number", text);
  if (type == FieldType::kNumber && !number_from(text)) return fmt::format("\"{}\" is not a number", text);
  return {};
}

bool is_label(std::string_view name) noexcept {
  return name == "name" || name.starts_with(kTags);
}

void set_labels(RunCase& run_case, const std::map<std::string, std::string>& fields) {
  for (const auto& [name, text] : fields) {
    if (name == "name") run_case.name = as_json_keeps_it(text);
    if (name.starts_with(kTags)) run_case.tags[as_json_keeps_it(name.substr(kTags.size()))] = as_json_keeps_it(text);
  }
}

RunCase case_from(const std::map<std::string, std::string>& fields) {
  Json json = {{"workload", kUnnamedWorkload}};
  for (const char* name : kHowItTrained) json[name] = "";
  for (const auto& [name, text] : fields) {
    if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
      json[name.substr(0, dot)][name.substr(dot + 1)] = text;
      continue;
    }
    switch (case_fields().at(name)) {
      case FieldType::kInteger: json[name] = *integer_from(text); break;
      case FieldType::kNumber: json[name] = *number_from(text); break;
      default: json[name] = text;
    }
  }
  return run_case_from_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace ddbench::imports
