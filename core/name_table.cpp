#include "core/name_table.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench {

std::uint32_t NameTable::intern(std::string_view name) {
  const auto [entry, added] = ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (added) names_.emplace_back(name);
  return entry->second;
}

const std::string& NameTable::name(std::uint32_t id) const {
  if (id >= names_.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("name id {} is unknown: the table holds {}", id, names_.size()));
  }
  return names_[id];
}

}  // namespace ddbench
