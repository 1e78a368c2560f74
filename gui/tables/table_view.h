#pragma once

#include <QTableView>
#include <functional>
#include <vector>

#include "gui/models/data_table_model.h"

class QSortFilterProxyModel;

namespace ddbench::gui {

/// A sortable table of cells. Ctrl+C copies the selection; the context menu copies everything and saves CSV.
class TableView : public QTableView {
 public:
  explicit TableView(const QString& accessible_name, QWidget* parent = nullptr);

  void set_table(reports::DataTable table);
  /// Where there is no room for all shown columns, those with brief cells show these, and wide columns of text give up
  /// width, as far as they can be read then.
  void fit_columns();
  /// What brief cells mean, of the first where there are many (shown_at_first): each cell's tool tip has its own. Empty where
  /// none are shown.
  QString legend() const;
  std::function<void()> on_fit;  ///< columns may show brief cells now, or no longer
  DataTableModel& cells() noexcept { return *model_; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void copy(bool all) const;
  void save();

  int heading_width(int column) const;
  int narrowest(int column) const;

  std::vector<int> natural_widths_;
  std::vector<int> brief_widths_;  ///< 0: a column has no brief cells
  DataTableModel* model_;
  QSortFilterProxyModel* sorted_;
};

}  // namespace ddbench::gui
