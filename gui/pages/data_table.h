#pragma once

#include <QTableView>

#include "models/cell_table_model.h"

class QSortFilterProxyModel;

namespace ddbench::gui {

/// A sortable table of cells. Ctrl+C copies what is selected, the context menu copies all and saves CSV.
class DataTable : public QTableView {
 public:
  explicit DataTable(const QString& accessible_name, QWidget* parent = nullptr);

  void set_table(CellTable table);
  CellTableModel& cells() noexcept { return *model_; }
  /// Row of the table as it was given; -1: none.
  int current_source_row() const;
  std::vector<int> selected_source_rows() const;
  /// As high as its rows, up to `most` of them: for tables in pages that scroll.
  void fit_height(int most = 14);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void copy(bool all) const;
  void save();

  CellTableModel* model_;
  QSortFilterProxyModel* sorted_;
};

}  // namespace ddbench::gui
