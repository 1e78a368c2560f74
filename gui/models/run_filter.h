#pragma once

#include <QSortFilterProxyModel>
#include <QString>
#include <map>
#include <optional>
#include <vector>

#include "gui/models/run_table_model.h"

namespace ddbench::gui {

/// Which rows are shown, and under which groups.
struct RunFilter {
  QString text;                        ///< every word must occur in some column, ignoring case
  std::map<RunColumn, QString> equal;  ///< the cell must have exactly this text
  std::optional<RunColumn> group;

  bool is_empty() const { return text.isEmpty() && equal.empty(); }
  friend bool operator==(const RunFilter&, const RunFilter&) = default;
};

/// Undo and redo of filters. Consecutive changes of only the text count as one step.
class FilterHistory {
 public:
  const RunFilter& current() const noexcept { return states_[at_]; }
  void change(RunFilter filter);
  bool can_undo() const noexcept { return at_ > 0; }
  bool can_redo() const noexcept { return at_ + 1 < states_.size(); }
  const RunFilter& undo();  ///< returns the current filter when there is nothing to undo
  const RunFilter& redo();

 private:
  std::vector<RunFilter> states_{RunFilter{}};
  std::size_t at_ = 0;
};

/// Filters and sorts a RunTableModel. A group is shown if one of its runs is. Missing values sort last in
/// both directions.
class RunFilterProxy : public QSortFilterProxyModel {
 public:
  explicit RunFilterProxy(QObject* parent = nullptr);
  void set_filter(const RunFilter& filter);
  std::vector<store::RunId> visible_runs() const;
  const RunEntry* entry(const QModelIndex& proxy_index) const;

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  bool lessThan(const QModelIndex& a, const QModelIndex& b) const override;

 private:
  const RunTableModel* runs() const { return static_cast<const RunTableModel*>(sourceModel()); }
  RunFilter filter_;
  QStringList words_;
};

}  // namespace ddbench::gui
