#pragma once

#include <QString>
#include <functional>
#include <string>

class QWidget;

namespace ddbench::gui {

/// Asks for a file to save `what` ("chart") in, `name` at first, and calls `write` with it. A name without a suffix gets this one,
/// before the dialog asks whether to replace a file. An Error that `write` throws is shown.
void save_by_dialog(QWidget* parent, const QString& what, const QString& name, const QString& suffix,
                    const std::function<void(const std::string& file)>& write);

}  // namespace ddbench::gui
