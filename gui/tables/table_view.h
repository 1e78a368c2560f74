#pragma once

#include <QTableView>
#include <vector>

#include "gui/models/data_table_model.h"

class QSortFilterProxyModel;

namespace ddbench::gui {

/// A sortable table of cells. Ctrl+C copies the selection; the context menu copies everything and saves CSV.
class TableView : public QTableView {
 public:
  explicit TableView(const QString& accessible_name, QWidget* parent = nullptr);

  void set_table(reports::DataTable table);
  /// Wide columns of text give up width until all shown columns are in view, as far as they can be read then.
  void fit_columns();
  DataTableModel& cells() noexcept { return *model_; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void copy(bool all) const;
  void save();

  std::vector<int> natural_widths_;
  DataTableModel* model_;
  QSortFilterProxyModel* sorted_;
};

}  // namespace ddbench::gui
