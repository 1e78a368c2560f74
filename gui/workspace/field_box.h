#pragma once

#include <string>
#include <vector>

class QComboBox;

namespace ddbench::gui {

/// Fills the box with items "By FIELD" (the field as their data) after its first `fixed` items, replacing
/// those that followed. Keeps the selection if it is still offered; otherwise selects the first item. Emits
/// no signal.
void offer_fields(QComboBox& box, int fixed, const std::vector<std::string>& fields);

}  // namespace ddbench::gui
