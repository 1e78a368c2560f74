#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddbench {

/// The rank of a process and the world size, as reported by its collective library or its environment.
struct WorldPlace {
  int rank = 0;
  int ranks = 0;  ///< 1 or more; rank is below it
  friend bool operator==(const WorldPlace&, const WorldPlace&) = default;
};

/// The name that a process interns to report it (core/name_table.h): "place: rank 1 of 4". Of several, that with most ranks
/// is the world.
std::string world_place_name(const WorldPlace& place);
/// Nothing where `name` is another name, or one with numbers that cannot be.
std::optional<WorldPlace> parse_world_place(std::string_view name) noexcept;

}  // namespace ddbench
