#include "core/name_table.h"

#include "core/text/number.h"

namespace ddbench {
namespace {

constexpr std::string_view kBegin = "communicator ";
constexpr std::string_view kMiddle = ": ";
constexpr std::string_view kEnd = " ranks";

}  // namespace

std::uint32_t NameTable::intern(std::string_view name) {
  const auto [entry, added] = ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (added) names_.emplace_back(name);
  return entry->second;
}

std::string communicator_size_name(const CommunicatorSize& size) {
  std::string name(kBegin);
  name += std::to_string(size.communicator);
  name += kMiddle;
  name += std::to_string(size.ranks);
  return name += kEnd;
}

std::optional<CommunicatorSize> parse_communicator_size(std::string_view name) noexcept {
  if (!name.starts_with(kBegin)) return std::nullopt;
  const auto communicator = leading_number<std::uint16_t>(name.substr(kBegin.size()));
  if (!communicator || !communicator->rest.starts_with(kMiddle)) return std::nullopt;
  const auto ranks = leading_number<int>(communicator->rest.substr(kMiddle.size()));
  if (!ranks || ranks->rest != kEnd || ranks->value < 1) return std::nullopt;
  return CommunicatorSize{communicator->value, ranks->value};
}

}  // namespace ddbench
