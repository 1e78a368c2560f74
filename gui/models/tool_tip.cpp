#include "gui/models/tool_tip.h"

#include <QTextDocument>

namespace ddbench::gui {

QString tool_tip(const QString& text) {
  return Qt::mightBeRichText(text) ? Qt::convertFromPlainText(text) : text;
}

}  // namespace ddbench::gui
