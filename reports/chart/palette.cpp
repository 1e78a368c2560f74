#include "reports/chart/palette.h"

#include <array>
#include <string>

namespace ddbench::reports {
namespace {

constexpr std::size_t kOrdered = 8;

constexpr std::array<Ink, 22> kInks{{
    {"s0", "#0b66b0", "#5aa9e6", Hatch::kNone, Marker::kCircle},
    {"s1", "#c8500a", "#ff8f4d", Hatch::kRising, Marker::kSquare},
    {"s2", "#00805c", "#3cc99a", Hatch::kHorizontal, Marker::kTriangle},
    {"s3", "#8e4bb8", "#c79be8", Hatch::kFalling, Marker::kDiamond},
    {"s4", "#b07400", "#ffc24d", Hatch::kDots, Marker::kWedge},
    {"s5", "#2b86bd", "#8fd0ff", Hatch::kCross, Marker::kRing},
    {"s6", "#9c2458", "#ef8fb8", Hatch::kVertical, Marker::kPlus},
    {"s7", "#868e99", "#c4cad3", Hatch::kNone, Marker::kCross},
    {"ideal", "#6b7280", "#8b95a5", Hatch::kNone, Marker::kPlus, true},
    {"link_ceiling", "#b3261e", "#ff8a80", Hatch::kNone, Marker::kPlus, true},
    {"total", "#374151", "#cbd2dc", Hatch::kNone, Marker::kSquare},
    {"forward", "#2f86cf", "#64b2ee", Hatch::kNone, Marker::kCircle},
    {"backward", "#0f4c81", "#2f78b8", Hatch::kRising, Marker::kSquare},
    {"optimizer", "#2a93a8", "#6fd0e2", Hatch::kFalling, Marker::kTriangle},
    {"other_compute", "#7287a5", "#a9bbd6", Hatch::kDots, Marker::kDiamond},
    {"cpu_wait", "#b3261e", "#ff8a80", Hatch::kFalling, Marker::kPlus},
    {"exposed_transfer", "#c8500a", "#ff8f4d", Hatch::kNone, Marker::kWedge},
    {"exposed_peer_wait", "#b98300", "#ffcb5c", Hatch::kCross, Marker::kRing},
    {"copy", "#8e4bb8", "#c79be8", Hatch::kVertical, Marker::kPlus},
    {"data_wait", "#00805c", "#3cc99a", Hatch::kHorizontal, Marker::kCross},
    {"host", "#5f6773", "#a3adbb", Hatch::kNone, Marker::kCircle},
    {"idle", "#8b93a0", "#59616d", Hatch::kDots, Marker::kSquare},
}};

}  // namespace

const Ink& ink_for(std::string_view series_name, std::size_t index) {
  std::string name(series_name);
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  for (std::size_t i = kOrdered; i < kInks.size(); ++i) {
    if (kInks[i].css_class == name) return kInks[i];
  }
  return kInks[index % kOrdered];
}

std::span<const Ink> all_inks() {
  return kInks;
}

}  // namespace ddbench::reports
