#pragma once

#include <QString>
#include <QVariant>
#include <string>
#include <vector>

class QComboBox;

namespace ddbench::gui {

struct BoxItem {
  QString text;
  QVariant data;
  QString tip;

  friend bool operator==(const BoxItem&, const BoxItem&) = default;
};

/// The box offers just these.
bool offers(const QComboBox& box, const std::vector<BoxItem>& items);
/// Makes the box offer these and selects the one with this data, or the first. A box that offers them already keeps its
/// items: its list may be open. Emits no signal.
void offer_items(QComboBox& box, const std::vector<BoxItem>& items, const QVariant& chosen);
/// Selects the item with this data, or the first. Emits no signal.
void select_item(QComboBox& box, const QVariant& chosen);

/// Makes the box offer items "By FIELD" (the field as their data) after its first `fixed` items, as offer_items does. Keeps
/// the selection if it is still offered; otherwise selects the first item.
void offer_fields(QComboBox& box, int fixed, const std::vector<std::string>& fields);

}  // namespace ddbench::gui
