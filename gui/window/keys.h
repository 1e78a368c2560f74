#pragma once

#include <QString>

namespace ddbench::gui {

/// The text that F1 shows: keys and gestures of the window, of tables, charts and the timeline. HTML.
QString keys_text();

}  // namespace ddbench::gui
