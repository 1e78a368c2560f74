#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ddbench::reports {

enum class Hatch { kNone, kRising, kFalling, kCross, kHorizontal, kVertical, kDots };
enum class Marker { kCircle, kSquare, kTriangle, kDiamond, kCross, kRing, kWedge, kPlus };

/// The appearance of a series in every chart. Distinguishable without colour: areas by hatch, lines by
/// marker.
struct Ink {
  std::string_view css_class;
  std::string_view light;  ///< "#rrggbb", on a white page; 3:1 or more against it
  std::string_view dark;   ///< on a dark page (#14171c)
  Hatch hatch = Hatch::kNone;
  Marker marker = Marker::kCircle;
  bool dashed = false;
};

/// The parts of a step ("forward", "exposed_transfer", ...), "ideal", "link ceiling" and "total" always look
/// the same; other series take the colours in the order of `index`.
const Ink& ink_for(std::string_view series_name, std::size_t index);

std::span<const Ink> all_inks();

}  // namespace ddbench::reports
