#pragma once

#include <string_view>

#include "reports/chart/canvas.h"
#include "reports/chart/chart.h"
#include "reports/chart/layout.h"

namespace ddbench::reports::svg {

// Each draws one layer of a chart; called in this order.

void draw_title_and_notes(Canvas& canvas, const Layout& layout);
void draw_legend(Canvas& canvas, const Layout& layout, std::string_view id_prefix);
void draw_axes(Canvas& canvas, const Chart& chart, const Layout& layout);
void draw_bars(Canvas& canvas, const Chart& chart, const Layout& layout, std::string_view id_prefix);
void draw_lines(Canvas& canvas, const Chart& chart, const Layout& layout);

/// The <defs> that hatched areas refer to.
void define_hatches(Canvas& canvas, const Chart& chart, std::string_view id_prefix);
/// "url(#...)"; empty for an area without hatch.
std::string hatch_fill(Hatch hatch, std::string_view id_prefix);

/// The path of an interval at `across` on the other axis, with caps of `cap` pixels to each side; a cut end
/// is drawn as an arrow.
std::string whisker_path(const Layout& layout, const Interval& interval, double across, double cap);

/// Path of a marker about (x, y).
std::string marker_path(Marker marker, double x, double y);

}  // namespace ddbench::reports::svg
