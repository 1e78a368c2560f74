#include "core/world_place.h"

#include "core/text/number.h"

namespace ddbench {
namespace {

constexpr std::string_view kPlaceBegin = "place: rank ";
constexpr std::string_view kPlaceMiddle = " of ";

}  // namespace

std::string world_place_name(const WorldPlace& place) {
  std::string name(kPlaceBegin);
  name += std::to_string(place.rank);
  name += kPlaceMiddle;
  return name += std::to_string(place.ranks);
}

std::optional<WorldPlace> parse_world_place(std::string_view name) noexcept {
  if (!name.starts_with(kPlaceBegin)) return std::nullopt;
  const auto rank = leading_number<int>(name.substr(kPlaceBegin.size()));
  if (!rank || !rank->rest.starts_with(kPlaceMiddle)) return std::nullopt;
  const auto ranks = leading_number<int>(rank->rest.substr(kPlaceMiddle.size()));
  if (!ranks || !ranks->rest.empty() || ranks->value < 1 || rank->value < 0 || rank->value >= ranks->value)
    return std::nullopt;
  return WorldPlace{rank->value, ranks->value};
}

}  // namespace ddbench
