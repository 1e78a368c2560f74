#pragma once

#include <QString>
#include <QWidget>
#include <vector>

#include "gui/charts/figure_card.h"

namespace ddbench::gui {

/// They have no meta object of their own, so that findChildren<FigureCard*> would find every frame.
std::vector<FigureCard*> cards_of(const QWidget& window);

/// What a reader of `window` would call broken, one line each; empty: nothing. Of visible widgets only.
/// A text may be cut only where a tooltip has all of it.
QStringList layout_problems(const QWidget& window);

}  // namespace ddbench::gui
