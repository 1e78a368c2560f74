#include "gui/workspace/field_box.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>

#include "gui/models/run_list.h"

namespace ddbench::gui {

void offer_fields(QComboBox& box, int fixed, const std::vector<std::string>& fields) {
  const QSignalBlocker quiet(box);
  const QVariant chosen = box.currentData();
  while (box.count() > fixed) box.removeItem(fixed);
  for (const std::string& field : fields)
    box.addItem(QStringLiteral("By ") + spaced(field), QString::fromStdString(field));
  box.setCurrentIndex(std::max(0, box.findData(chosen)));
}

}  // namespace ddbench::gui
