#pragma once

#include <string>
#include <vector>

class QComboBox;

namespace ddbench::gui {

/// Items "By FIELD" with the field as their data, after the box's first `fixed` items and instead of those
/// that came after them. The choice stays where it is still offered; else it is the first item. Emits
/// nothing.
void offer_fields(QComboBox& box, int fixed, const std::vector<std::string>& fields);

}  // namespace ddbench::gui
