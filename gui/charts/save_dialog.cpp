#include "gui/charts/save_dialog.h"

#include <QFileDialog>
#include <QMessageBox>

#include "core/error.h"

namespace ddbench::gui {

void save_by_dialog(QWidget* parent, const QString& what, const QString& name, const QString& suffix,
                    const std::function<void(const std::string& file)>& write) {
  QFileDialog dialog(parent, QStringLiteral("Save ") + what, {}, QStringLiteral("%1 (*.%2)").arg(suffix.toUpper(), suffix));
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setDefaultSuffix(suffix);
  dialog.selectFile(name);
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return;
  try {
    write(dialog.selectedFiles().front().toStdString());
  } catch (const Error& error) {
    QMessageBox::warning(parent, QStringLiteral("The %1 was not saved").arg(what), QString::fromStdString(error.message()));
  }
}

}  // namespace ddbench::gui
