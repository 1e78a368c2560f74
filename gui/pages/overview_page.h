#pragma once

#include "gui/models/run_filter.h"
#include "gui/workspace/page.h"

class QLabel;
class QLineEdit;
class QToolButton;
class QTreeView;

namespace ddbench::gui {

class ColumnChoice;
class TableView;
class FigureCard;

/// All runs of the store: filter, sort, group and select them; the selected runs are shown below, side by
/// side.
class OverviewPage : public Page {
 public:
  explicit OverviewPage(Workspace& workspace);

  QTreeView& tree() noexcept { return *tree_; }
  ColumnChoice& columns() noexcept { return *columns_; }
  RunFilterProxy& rows() noexcept { return *proxy_; }
  const RunFilter& filter() const noexcept { return history_.current(); }
  void change_filter(RunFilter filter);
  void undo();
  void redo();
  void focus_filter();

  FigureCard& comparison_card() noexcept { return *card_; }
  TableView& comparison_table() noexcept { return *table_; }

 protected:
  void load() override;
  std::string key() const override;
  void showEvent(QShowEvent* event) override;

 private:
  void make_tiles();
  void make_filters();
  void make_group_box(class QLayout* row);
  void make_undo(class QLayout* row);
  void make_tree();
  void make_comparison();
  void apply_filter();
  void fill_filters();
  void fill_tiles();
  void selection_changed();
  void restore_selection();
  void load_comparison();
  std::string comparison_key() const;

  SharedRunList shown_;
  std::string compared_;  ///< subject and selection that the lower half shows
  RunTableModel* model_;
  RunFilterProxy* proxy_;
  FilterHistory history_;
  bool restoring_ = false;

  struct Tile {
    QLabel* value;
    QLabel* detail;
  };
  std::vector<Tile> tiles_;
  QWidget* filters_ = nullptr;
  QLineEdit* search_ = nullptr;
  std::map<RunColumn, class QComboBox*> choices_;
  class QComboBox* group_ = nullptr;
  QToolButton* undo_ = nullptr;
  QToolButton* redo_ = nullptr;
  QTreeView* tree_ = nullptr;
  ColumnChoice* columns_ = nullptr;
  QWidget* panel_ = nullptr;
  QLabel* hint_ = nullptr;
  QString about_;  ///< what the hint says about the comparison
  QLabel* panel_title_ = nullptr;
  FigureCard* card_ = nullptr;
  TableView* table_ = nullptr;
};

}  // namespace ddbench::gui
