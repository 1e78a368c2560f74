#include "core/name_table.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench {

std::uint32_t NameTable::intern(std::string_view name) {
  const auto [entry, added] = ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (added) names_.emplace_back(name);
  return entry->second;
}

}  // namespace ddbench
