#pragma once

#include <QtCharts/QChart>

#include "gui/charts/chart_frame.h"

namespace ddbench::gui {

/// A QChart without legend, title and margins, in the colours of the theme, with two axes. Our axes are
/// linear in positions: a logarithmic axis holds logarithms with its own labels, so that each tick keeps its
/// unit and bars may stand on it.
void prepare_chart(QChart& chart);

/// Replaces the series by those of `content`: lines with their markers, an area for each ink of bars, and
/// bands of intervals for long lines. `horizontal`: bands run down the page, values to the right. Deletes the
/// previous series. GUI thread only.
void set_series(QChart& chart, const reports::svg::Chart& content, bool horizontal);

/// Ranges, ticks, labels and titles of both axes, and where the plot is.
void set_axes(QChart& chart, const reports::svg::Chart& content, const ChartFrame& frame);

}  // namespace ddbench::gui
