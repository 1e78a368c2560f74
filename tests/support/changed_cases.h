#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/run_case/case_fields.h"

namespace ddbench::test {

/// A case that differs from the usual one in one field.
struct ChangedCase {
  std::string field;
  FieldRole role = FieldRole::kLabel;
  RunCase run_case;
};

inline void change(std::string& value) {
  value += "x";
}
inline void change(std::map<std::string, std::string>& value) {
  value["key"] = "x";
}
inline void change(Work& value) {
  value = ReferenceWorkload{work_name(value) + "x", work_options(value)};
}
template <typename Value>
void change(Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    value = static_cast<Value>(1);  // each has a second
  } else {
    value += 1;
  }
}

/// One for every field.
inline std::vector<ChangedCase> each_field_changed(const RunCase& usual) {
  std::size_t count = 0;
  visit_fields(usual, [&](const char*, FieldRole, const auto&) { ++count; });
  std::vector<ChangedCase> all(count);
  for (std::size_t wanted = 0; wanted < count; ++wanted) {
    std::size_t index = 0;
    all[wanted].run_case = usual;
    visit_fields(all[wanted].run_case, [&](const char* name, FieldRole role, auto& value) {
      if (index++ != wanted) return;
      change(value);
      constexpr bool kMap = std::is_same_v<std::decay_t<decltype(value)>, std::map<std::string, std::string>>;
      all[wanted].field = name + std::string(kMap ? ".key" : "");
      all[wanted].role = role;
    });
  }
  return all;
}

}  // namespace ddbench::test
