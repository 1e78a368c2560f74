#pragma once

#include <QLayout>
#include <QList>

namespace ddbench::gui {

/// Items one after another, in lines as wide as the parent: legends, filters.
class FlowLayout : public QLayout {
 public:
  FlowLayout(int gap_x, int gap_y) : gap_x_(gap_x), gap_y_(gap_y) { setContentsMargins(0, 0, 0, 0); }
  ~FlowLayout() override;

  void addItem(QLayoutItem* item) override { items_.append(item); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
  void setGeometry(const QRect& rect) override;
  QSize sizeHint() const override { return minimumSize(); }
  QSize minimumSize() const override;

 private:
  int arrange(const QRect& rect, bool place) const;
  QList<QLayoutItem*> items_;
  int gap_x_;
  int gap_y_;
};

}  // namespace ddbench::gui
