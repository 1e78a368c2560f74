#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/chart/draw.h"

namespace ddbench::reports::svg {
namespace {

constexpr double kBandShare = 0.7;  ///< of a band is covered by its bars

struct Side {
  double begin = 0;
  double size = 0;
};

/// Across the band.
Side side_of(const Chart& chart, const Layout& layout, const Bar& bar) {
  const double band = layout.band_size(chart);
  const double room = std::min(band * kBandShare, 72.0 * static_cast<double>(bar.slots));
  const double size = room / static_cast<double>(bar.slots);
  const double begin = layout.band_middle(chart, static_cast<double>(bar.band)) - room / 2;
  return {begin + size * static_cast<double>(bar.slot), std::max(0.5, bar.slots > 1 ? size - 1 : size)};
}

void draw_bar(Canvas& canvas, const Chart& chart, const Layout& layout, const Bar& bar,
              std::string_view id_prefix) {
  const Side side = side_of(chart, layout, bar);
  const double base = chart.log_y ? layout.y.low : 0;
  const double from = layout.value_position(chart.log_y ? std::max(bar.from, base) : bar.from);
  const double to = layout.value_position(bar.to);
  const double low = std::min(from, to);
  // A bar of length zero stays visible: zero is a known value, not a missing one.
  const double length = std::max(std::abs(to - from), 1.0);
  const std::string css = fmt::format("bar {}", bar.ink->css_class);
  const auto place = [&](std::string_view css_class, std::string_view tip, std::string_view fill) {
    if (layout.horizontal) {
      canvas.rect(low, side.begin, length, side.size, css_class, tip, fill);
    } else {
      canvas.rect(side.begin, low, side.size, length, css_class, tip, fill);
    }
  };
  place(css, bar.tip, {});
  if (const std::string fill = hatch_fill(bar.ink->hatch, id_prefix); !fill.empty() && length > 1) {
    place("hatch", {}, fill);
  }
}

void draw_interval(Canvas& canvas, const Chart& chart, const Layout& layout, const Bar& bar) {
  if (!bar.interval) return;
  const Side side = side_of(chart, layout, bar);
  canvas.path(whisker_path(layout, *bar.interval, side.begin + side.size / 2, std::min(4.0, side.size / 3)),
              "whisker");
}

/// From each bar of a waterfall to the beginning of the next.
void draw_connectors(Canvas& canvas, const Chart& chart, const Layout& layout) {
  const Bar* last = nullptr;
  for (const Bar& bar : chart.bars) {
    if (last != nullptr && last->floats) {
      const Side above = side_of(chart, layout, *last);
      const Side below = side_of(chart, layout, bar);
      const double at = layout.value_position(last->to);
      if (layout.horizontal) {
        canvas.line(at, above.begin + above.size, at, below.begin, "connector");
      } else {
        canvas.line(above.begin + above.size, at, below.begin, at, "connector");
      }
    }
    last = &bar;
  }
}

void draw_end_labels(Canvas& canvas, const Chart& chart, const Layout& layout) {
  if (!layout.horizontal) return;
  for (const EndLabel& label : chart.end_labels) {
    canvas.text(layout.value_position(label.at) + kGap,
                layout.band_middle(chart, static_cast<double>(label.band)) + kTextPx * 0.35, label.text,
                Anchor::kStart, "value");
  }
}

std::string_view hatch_lines(Hatch hatch) {
  switch (hatch) {
    case Hatch::kRising: return "M-2 2L2 -2M0 8L8 0M6 10L10 6";
    case Hatch::kFalling: return "M-2 6L2 10M0 0L8 8M6 -2L10 2";
    case Hatch::kCross: return "M0 0L8 8M0 8L8 0";
    case Hatch::kHorizontal: return "M0 4H8";
    case Hatch::kVertical: return "M4 0V8";
    case Hatch::kDots: return "M1 2h2M5 6h2";
    default: return "";
  }
}

std::string hatch_id(Hatch hatch, std::string_view id_prefix) {
  return fmt::format("{}-h{}", id_prefix, static_cast<int>(hatch));
}

}  // namespace

std::string hatch_fill(Hatch hatch, std::string_view id_prefix) {
  return hatch == Hatch::kNone ? std::string() : fmt::format("url(#{})", hatch_id(hatch, id_prefix));
}

void define_hatches(Canvas& canvas, const Chart& chart, std::string_view id_prefix) {
  std::set<Hatch> used;
  for (const Bar& bar : chart.bars) used.insert(bar.ink->hatch);
  used.erase(Hatch::kNone);
  if (used.empty()) return;
  canvas.raw("<defs>");
  for (const Hatch hatch : used) {
    canvas.raw(fmt::format("<pattern id=\"{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">",
                           hatch_id(hatch, id_prefix)));
    canvas.path(hatch_lines(hatch), hatch == Hatch::kDots ? "hatch-dots" : "hatch-line");
    canvas.raw("</pattern>");
  }
  canvas.raw("</defs>");
}

void draw_bars(Canvas& canvas, const Chart& chart, const Layout& layout, std::string_view id_prefix) {
  if (chart.bars.empty()) return;
  canvas.open_group("bars");
  for (const Bar& bar : chart.bars) draw_bar(canvas, chart, layout, bar, id_prefix);
  if (chart.is_waterfall) draw_connectors(canvas, chart, layout);
  for (const Bar& bar : chart.bars) draw_interval(canvas, chart, layout, bar);
  draw_end_labels(canvas, chart, layout);
  canvas.close_group();
}

}  // namespace ddbench::reports::svg
