#pragma once

#include <QTableView>

#include "gui/models/data_table_model.h"

class QSortFilterProxyModel;

namespace ddbench::gui {

/// A sortable table of cells. Ctrl+C copies the selection; the context menu copies everything and saves CSV.
class TableView : public QTableView {
 public:
  explicit TableView(const QString& accessible_name, QWidget* parent = nullptr);

  void set_table(reports::DataTable table);
  DataTableModel& cells() noexcept { return *model_; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void copy(bool all) const;
  void save();

  DataTableModel* model_;
  QSortFilterProxyModel* sorted_;
};

}  // namespace ddbench::gui
