#include <algorithm>
#include <cmath>

#include "reports/chart/draw.h"
#include "reports/chart/text_metrics.h"

namespace ddbench::reports::svg {
namespace {

void draw_value_axis(Canvas& canvas, const Chart& chart, const Layout& layout) {
  const Box& plot = layout.plot;
  for (const Tick& tick : layout.y.ticks) {
    const double at = layout.value_position(tick.value);
    const bool base = tick.value == 0 && !chart.log_y;
    if (layout.horizontal) {
      canvas.line(at, plot.top, at, plot.bottom, base ? "base" : "grid");
      canvas.text(at, plot.bottom + kTextPx + 3, tick.text, Anchor::kMiddle, "tick");
    } else {
      canvas.line(plot.left, at, plot.right, at, base ? "base" : "grid");
      canvas.text(plot.left - kGap, at + kTextPx * 0.35, tick.text, Anchor::kEnd, "tick");
    }
  }
  const double first = layout.horizontal ? plot.bottom + 2 * kLinePx - 2 : plot.top - kGap - 3;
  const double up = layout.horizontal ? 0 : static_cast<double>(layout.value_title.size()) - 1;
  for (std::size_t i = 0; i < layout.value_title.size(); ++i) {
    const double y = first + (static_cast<double>(i) - up) * kLinePx;
    if (layout.horizontal) {
      canvas.text((plot.left + plot.right) / 2, y, layout.value_title[i], Anchor::kMiddle, "axis");
    } else {
      canvas.text(8, y, layout.value_title[i], Anchor::kStart, "axis");
    }
  }
}

void draw_row_labels(Canvas& canvas, const Chart& chart, const Layout& layout) {
  for (std::size_t band = 0; band < chart.bands.size(); ++band) {
    const std::string shown = fit_text(chart.bands[band], layout.band_label_width + 1, kTextPx);
    const double y = layout.band_middle(chart, static_cast<double>(band)) + kTextPx * 0.35;
    canvas.text(layout.plot.left - kGap, y, shown, Anchor::kEnd, "label",
                shown == chart.bands[band] ? std::string_view() : chart.bands[band]);
  }
}

void draw_column_labels(Canvas& canvas, const Chart& chart, const Layout& layout) {
  constexpr double kDiagonal = 1.4142;
  for (std::size_t band = 0; band < chart.bands.size(); band += layout.label_every) {
    const double x = layout.band_middle(chart, static_cast<double>(band));
    const std::string& label = chart.bands[band];
    if (layout.band_labels == BandLabels::kFlat) {
      canvas.text(x, layout.plot.bottom + kTextPx + 4, label, Anchor::kMiddle, "label");
      continue;
    }
    const std::string shown =
        fit_text(label, std::min(layout.band_label_width, (x - 2) * kDiagonal), kTextPx);
    canvas.turned_text(x + 3, layout.plot.bottom + kTextPx, -45, shown, Anchor::kEnd, "label",
                       shown == label ? std::string_view() : label);
  }
}

/// From left to right, without those that would touch the one before; the last one is always shown.
void draw_x_ticks(Canvas& canvas, const Layout& layout) {
  const Box& plot = layout.plot;
  const auto at = [&](const Tick& tick) { return plot.left + layout.x.position(tick.value) * plot.width(); };
  if (layout.x.ticks.empty()) return;
  const Tick& last = layout.x.ticks.back();
  const double last_left = at(last) - text_width(last.text, kTextPx) / 2;
  double taken = -1e9;
  for (const Tick& tick : layout.x.ticks) {
    const double half = text_width(tick.text, kTextPx) / 2;
    const bool is_last = &tick == &last;
    if (at(tick) < plot.left - 1 || at(tick) > plot.right + 1) continue;
    canvas.line(at(tick), plot.bottom, at(tick), plot.bottom + 4, "base");
    if (!is_last && (at(tick) - half < taken + kGap || at(tick) + half + kGap > last_left)) continue;
    const double x = std::clamp(at(tick), half + 1, std::max(half + 1, layout.width - half - 1));
    canvas.text(x, plot.bottom + kTextPx + 6, tick.text, Anchor::kMiddle, "tick");
    taken = at(tick) + half;
  }
}

void draw_x_title(Canvas& canvas, const Chart& chart, const Layout& layout) {
  if (chart.x_title.empty() || layout.horizontal) return;
  const bool turned = layout.band_labels == BandLabels::kTurned;
  const double labels = turned ? layout.band_label_width / 1.4142 + kTextPx : kLinePx;
  canvas.text((layout.plot.left + layout.plot.right) / 2, layout.plot.bottom + kGap + labels + kTextPx,
              fit_text(chart.x_title, layout.plot.width(), kTextPx), Anchor::kMiddle, "axis");
}

}  // namespace

void draw_axes(Canvas& canvas, const Chart& chart, const Layout& layout) {
  canvas.open_group("axes");
  draw_value_axis(canvas, chart, layout);
  if (chart.bands.empty()) {
    canvas.line(layout.plot.left, layout.plot.bottom, layout.plot.right, layout.plot.bottom, "base");
    draw_x_ticks(canvas, layout);
  } else if (layout.horizontal) {
    draw_row_labels(canvas, chart, layout);
  } else {
    draw_column_labels(canvas, chart, layout);
  }
  draw_x_title(canvas, chart, layout);
  canvas.close_group();
}

void draw_title_and_notes(Canvas& canvas, const Layout& layout) {
  double y = 8 + kTitlePx;
  for (const std::string& line : layout.title) {
    canvas.text(8, y, line, Anchor::kStart, "title");
    y += kTitlePx + 5;
  }
  y = layout.notes_top + kTextPx;
  for (const std::string& line : layout.notes) {
    canvas.text(8, y, line, Anchor::kStart, "note");
    y += kLinePx;
  }
}

}  // namespace ddbench::reports::svg
