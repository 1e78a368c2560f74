#pragma once

#include <QString>

namespace ddbench::gui {

/// `text` as a tool tip that shows it as it is: Qt would take a name such as "<img src=...>" for rich text, and load what it names.
QString tool_tip(const QString& text);

}  // namespace ddbench::gui
