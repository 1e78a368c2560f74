#pragma once

#include <QPolygonF>
#include <QString>
#include <functional>
#include <vector>

class QPainter;

namespace ddbench::gui {

/// One text as it was painted: its box, turned with it, in device coordinates.
struct PaintedText {
  QString text;
  QPolygonF box;
  bool clipped = false;  ///< a part of it lies outside the painter's clip
};

/// All texts that `paint` paints, also those of widgets and items that keep no text to ask for. Nothing is drawn.
std::vector<PaintedText> painted_texts(QSize size, const std::function<void(QPainter&)>& paint);

/// What is wrong with texts on an area of this size: beyond its edge, clipped, or on another text.
QStringList misplaced(const std::vector<PaintedText>& texts, QSize size);

}  // namespace ddbench::gui
