#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "ddbench/store/records.h"

namespace ddbench::analyzer {

/// 0 when the fact is absent or no number.
inline std::int64_t numeric_fact(const store::RunRecord& run, const std::string& name) {
  const auto found = run.environment.facts.find(name);
  std::int64_t value = 0;
  if (found != run.environment.facts.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  }
  return value;
}

}  // namespace ddbench::analyzer
