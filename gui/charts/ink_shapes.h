#pragma once

#include <QBrush>
#include <QPainter>
#include <QPixmap>

#include "gui/charts/theme.h"
#include "reports/chart/chart.h"
#include "reports/chart/palette.h"

namespace ddbench::gui {

/// The marker of a series about `at`, filled or open as the reports draw it.
void draw_marker(QPainter& painter, const reports::Ink& ink, QPointF at, const QColor& color,
                 double scale = 1);

/// The filling of a series' areas: its colour, with its hatch in the surface's colour.
QBrush fill_brush(const reports::Ink& ink, const Theme& theme);

/// The symbol shown beside the name of a series.
QPixmap legend_swatch(const reports::svg::LegendEntry& entry, const Theme& theme, bool shown,
                      double pixel_ratio);

}  // namespace ddbench::gui
