#include "gui/workspace/field_box.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>

#include "gui/models/run_list.h"

namespace ddbench::gui {
namespace {

std::vector<BoxItem> items_of(const QComboBox& box, int most) {
  std::vector<BoxItem> items;
  for (int i = 0; i < std::min(most, box.count()); ++i)
    items.push_back({box.itemText(i), box.itemData(i), box.itemData(i, Qt::ToolTipRole).toString()});
  return items;
}

}  // namespace

bool offers(const QComboBox& box, const std::vector<BoxItem>& items) {
  return items_of(box, box.count()) == items;
}

void offer_items(QComboBox& box, const std::vector<BoxItem>& items, const QVariant& chosen) {
  if (!offers(box, items)) {
    const QSignalBlocker quiet(box);
    box.clear();
    for (const BoxItem& item : items) {
      box.addItem(item.text, item.data);
      if (!item.tip.isEmpty()) box.setItemData(box.count() - 1, item.tip, Qt::ToolTipRole);
    }
  }
  select_item(box, chosen);
}

void select_item(QComboBox& box, const QVariant& chosen) {
  const QSignalBlocker quiet(box);
  const int place = box.count() == 0 ? -1 : std::max(0, box.findData(chosen));
  if (place != box.currentIndex()) box.setCurrentIndex(place);
}

void offer_fields(QComboBox& box, int fixed, const std::vector<std::string>& fields) {
  std::vector<BoxItem> items = items_of(box, fixed);
  for (const std::string& field : fields)
    items.push_back({QStringLiteral("By ") + spaced(field), QString::fromStdString(field), {}});
  offer_items(box, items, box.currentData());
}

}  // namespace ddbench::gui
