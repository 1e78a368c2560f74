#pragma once

#include <QColor>
#include <QImage>
#include <vector>

#include "core/span.h"
#include "gui/charts/theme.h"
#include "reports/chart/palette.h"

namespace ddbench::gui {

/// The ink that every other chart uses for the step part to which spans of this kind belong.
const reports::Ink& ink_of(SpanKind kind);

QColor color_of(SpanKind kind);
/// The colour of spans that do not match a search.
QColor faint_color_of(SpanKind kind);
/// Black or white, whichever is read better on color_of.
QColor text_on(SpanKind kind);

/// Colours of columns from the shares of the kinds (TimelineRow), mixed over the lane's own background.
/// `faint`: a search is active; spans too small to be shown separately are dimmed.
void mix_columns(const std::vector<float>& shares, bool faint, QRgb* colors, int columns);

/// Draws shares that sum to at most 1 as stacks from the bottom, a column of the picture each, in the order of the kinds.
void stack_columns(const std::vector<float>& shares, bool faint, QImage& picture);

}  // namespace ddbench::gui
