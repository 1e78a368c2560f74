#pragma once

#include <QColor>
#include <vector>

#include "core/span.h"
#include "gui/charts/theme.h"
#include "reports/chart/palette.h"

namespace ddbench::gui {

/// How the parts of a step that spans of this kind make are drawn in every other chart.
const reports::Ink& ink_of(SpanKind kind);

QColor color_of(SpanKind kind);
/// Of what does not match a search.
QColor faint_color_of(SpanKind kind);
/// Black or white, whichever is read better on color_of.
QColor text_on(SpanKind kind);

/// Colours of columns from the shares of the kinds (TimelineRow): mixed, over the lane's own ground. `faint`:
/// a search goes on, and what is too small to be told apart stands back.
void mix_columns(const std::vector<float>& shares, bool faint, QRgb* colors, int columns);

}  // namespace ddbench::gui
