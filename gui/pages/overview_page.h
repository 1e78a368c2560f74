#pragma once

#include <set>

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
  void unload(const QString& title, const QString& text) override;
  void reload() override;

  FigureCard& comparison_card() noexcept { return *card_; }
  TableView& comparison_table() noexcept { return *table_; }

 protected:
  void load() override;
  void cancel_outdated() override;
  std::string key() const override;
  void show_failure(const std::string& slot, const JobFailure& failure) override;
  void showEvent(QShowEvent* event) override;

 private:
  /// What a reset of the model forgets of the tree; rows by their run, groups by their title.
  struct TreeState {
    std::set<QString> closed;  ///< groups
    QString current;
    int column = 0;
  };
  TreeState tree_state() const;
  void restore_tree(const TreeState& state);
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
  void clear_comparison(const QString& title, const QString& about);
  std::string comparison_key() const;

  SharedRunList shown_;
  std::string compared_;       ///< subject and selection that the lower half shows or loads
  std::string compared_last_;  ///< of those, what it shows
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
