#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/chart/draw.h"

namespace ddbench::reports::svg {
namespace {

/// Markers have the tooltips of a page: more than in the dashboard, which shows values of dense lines too.
constexpr std::size_t kMostMarkers = 60;

struct Spot {
  double x = 0;
  double y = 0;
};

Spot spot_of(const Chart& chart, const Layout& layout, double x, double y) {
  const double at = chart.bands.empty() ? layout.plot.left + layout.x.position(x) * layout.plot.width()
                                        : layout.band_middle(chart, x);
  return layout.horizontal ? Spot{layout.value_position(y), at} : Spot{at, layout.value_position(y)};
}

/// At most four spots per pixel column (first, lowest, highest, last), so that no outlier is lost.
std::vector<Spot> thinned(const std::vector<Spot>& spots, double width) {
  if (static_cast<double>(spots.size()) <= 2 * width) return spots;
  std::vector<Spot> kept;
  for (std::size_t begin = 0, end = 0; begin < spots.size(); begin = end) {
    std::size_t low = begin;
    std::size_t high = begin;
    for (end = begin; end < spots.size() && std::floor(spots[end].x) == std::floor(spots[begin].x); ++end) {
      if (spots[end].y < spots[low].y) low = end;
      if (spots[end].y > spots[high].y) high = end;
    }
    std::size_t indices[] = {begin, std::min(low, high), std::max(low, high), end - 1};
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == 0 || indices[i] != indices[i - 1]) kept.push_back(spots[indices[i]]);
    }
  }
  return kept;
}

std::string path_through(const std::vector<Spot>& spots) {
  std::string data;
  for (const Spot& spot : spots)
    data += fmt::format("{}{} {}", data.empty() ? "M" : "L", px(spot.x), px(spot.y));
  return data;
}

std::vector<Spot> spots_of(const Chart& chart, const Layout& layout, const Line& line) {
  std::vector<Spot> spots;
  for (const Mark& mark : line.marks) spots.push_back(spot_of(chart, layout, mark.x, mark.y));
  return spots;
}

void draw_band(Canvas& canvas, const Chart& chart, const Layout& layout, const Line& line) {
  std::vector<Spot> upper;
  std::vector<Spot> lower;
  for (const Mark& mark : line.marks) {
    if (!mark.interval) continue;
    upper.push_back(spot_of(chart, layout, mark.x, mark.interval->high));
    lower.push_back(spot_of(chart, layout, mark.x, mark.interval->low));
  }
  if (upper.size() < 2) return;
  upper = thinned(upper, layout.plot.width());
  lower = thinned(lower, layout.plot.width());
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  canvas.path(path_through(upper) + "Z", fmt::format("band {}", line.ink->css_class));
}

void draw_whiskers(Canvas& canvas, const Chart& chart, const Layout& layout, const Line& line) {
  for (const Mark& mark : line.marks) {
    if (!mark.interval) continue;
    const Spot spot = spot_of(chart, layout, mark.x, mark.y);
    canvas.path(whisker_path(layout, *mark.interval, layout.horizontal ? spot.y : spot.x, 4),
                fmt::format("error {}", line.ink->css_class));
  }
}

void draw_line(Canvas& canvas, const Chart& chart, const Layout& layout, const Line& line) {
  const bool many = line.is_dense(kMostMarkers);
  const std::vector<Spot> spots = spots_of(chart, layout, line);
  if (many) {
    draw_band(canvas, chart, layout, line);
  } else {
    draw_whiskers(canvas, chart, layout, line);
  }
  if (line.joined && spots.size() > 1) {
    canvas.path(path_through(thinned(spots, layout.plot.width())),
                fmt::format("line {}{}{}", line.ink->css_class, many ? " thin" : "",
                            line.ink->dashed ? " dashed" : ""));
  }
  if (many || (line.joined && line.ink->dashed && spots.size() > 1)) return;
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const Marker marker = line.ink->marker;
    const bool open = marker == Marker::kRing || marker == Marker::kCross || marker == Marker::kPlus;
    canvas.path(marker_path(marker, spots[i].x, spots[i].y),
                fmt::format("{} {}", open ? "open" : "mark", line.ink->css_class), line.marks[i].tip);
  }
}

}  // namespace

std::string marker_path(Marker marker, double x, double y) {
  const auto from = [&](double dx, double dy) { return fmt::format("M{} {}", px(x + dx), px(y + dy)); };
  switch (marker) {
    case Marker::kSquare: return from(-4, -4) + "h8v8h-8z";
    case Marker::kTriangle: return from(0, -5) + "l5 9h-10z";
    case Marker::kDiamond: return from(0, -5.5) + "l5.5 5.5l-5.5 5.5l-5.5 -5.5z";
    case Marker::kCross: return from(-4, -4) + "l8 8" + from(-4, 4) + "l8 -8";
    case Marker::kWedge: return from(0, 5) + "l5 -9h-10z";
    case Marker::kPlus: return from(-5, 0) + "h10" + from(0, -5) + "v10";
    default: return from(-4, 0) + "a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
  }
}

void draw_lines(Canvas& canvas, const Chart& chart, const Layout& layout) {
  if (chart.lines.empty()) return;
  canvas.open_group("lines");
  for (const Line& line : chart.lines) draw_line(canvas, chart, layout, line);
  canvas.close_group();
}

void draw_legend(Canvas& canvas, const Layout& layout, std::string_view id_prefix) {
  if (layout.legend.empty()) return;
  canvas.open_group("legend");
  for (const PlacedLegend& placed : layout.legend) {
    const Ink& ink = *placed.entry.ink;
    const double middle = placed.y - kTextPx * 0.35;
    if (placed.entry.is_line) {
      if (placed.entry.joined) {
        canvas.path(fmt::format("M{} {}h16", px(placed.x), px(middle)),
                    fmt::format("line {}{}", ink.css_class, ink.dashed ? " dashed" : ""));
      }
      if (!ink.dashed) {
        const bool open =
            ink.marker == Marker::kRing || ink.marker == Marker::kCross || ink.marker == Marker::kPlus;
        canvas.path(marker_path(ink.marker, placed.x + 8, middle),
                    fmt::format("{} {}", open ? "open" : "mark", ink.css_class));
      }
    } else {
      canvas.rect(placed.x, middle - 6, 16, 12, fmt::format("bar {}", ink.css_class));
      if (const std::string fill = hatch_fill(ink.hatch, id_prefix); !fill.empty()) {
        canvas.rect(placed.x, middle - 6, 16, 12, "hatch", {}, fill);
      }
    }
    canvas.text(placed.x + 22, placed.y, placed.text, Anchor::kStart, "label",
                placed.text == placed.entry.name ? std::string_view() : placed.entry.name);
  }
  canvas.close_group();
}

}  // namespace ddbench::reports::svg
