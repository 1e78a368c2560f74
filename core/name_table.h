#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ddbench {

/// Interns names; ids count up from 0 in order of first use. Not thread-safe: intern before the timed region.
class NameTable {
 public:
  std::uint32_t intern(std::string_view name);
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

}  // namespace ddbench
