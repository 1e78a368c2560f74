#include "gui/charts/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace ddbench::gui {

FlowLayout::~FlowLayout() {
  qDeleteAll(items_);
}

QLayoutItem* FlowLayout::takeAt(int index) {
  return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_) size = size.expandedTo(item->minimumSize());
  return size;
}

int FlowLayout::arrange(const QRect& rect, bool place) const {
  int x = rect.x();
  int y = rect.y();
  int height = 0;
  QList<std::pair<QLayoutItem*, QRect>> line;
  const auto end_line = [&] {
    for (auto& [item, where] : line) {
      where.moveTop(y + (height - where.height()) / 2);
      if (place) item->setGeometry(where);
    }
    line.clear();
  };
  for (QLayoutItem* item : items_) {
    if (item->widget() != nullptr && item->widget()->isHidden()) continue;
    const QSize size = item->sizeHint();
    if (x > rect.x() && x + size.width() > rect.right() + 1) {
      end_line();
      x = rect.x();
      y += height + gap_y_;
      height = 0;
    }
    line.append({item, QRect(QPoint(x, y), size.boundedTo(QSize(rect.width(), size.height())))});
    x += size.width() + gap_x_;
    height = std::max(height, size.height());
  }
  end_line();
  return y + height - rect.y();
}

}  // namespace ddbench::gui
