#include "core/run_case/case_differences.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace ddbench {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error(ErrorCode::kBadInput, "a case cannot be read: it is no JSON object");
  return json;
}

}  // namespace

std::string case_differences(std::string_view there, std::string_view here) {
  const Json theirs = object_of(there);
  const Json ours = object_of(here);
  std::string text;
  for (const auto& [key, value] : ours.items()) {
    const Json other = theirs.value(key, Json());
    if (other == value) continue;
    text += fmt::format("{}{} is {} there and {} here", text.empty() ? "" : ", ", key, other.dump(),
                        value.dump());
  }
  return text;
}

}  // namespace ddbench
