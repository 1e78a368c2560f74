#pragma once

#include <QAbstractItemModel>
#include <optional>
#include <vector>

#include "gui/models/run_columns.h"
#include "gui/models/run_list.h"

namespace ddbench::gui {

/// The runs as rows, or, grouped by a column, as groups with their runs below. Belongs to the GUI thread.
class RunTableModel : public QAbstractItemModel {
 public:
  enum Role { kSortRole = Qt::UserRole + 1, kRunIdRole, kStateRole, kFilterTextRole };

  explicit RunTableModel(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

  /// Rows and groups keep their place and selection if only values changed; otherwise the model is reset.
  void set_runs(SharedRunList runs);
  void group_by(std::optional<RunColumn> column);
  const std::optional<RunColumn>& grouped_by() const noexcept { return grouped_by_; }
  /// Null for a group.
  const RunEntry* entry(const QModelIndex& index) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  struct Group {
    QString title;
    std::vector<std::size_t> entries;  ///< places in *runs_
    friend bool operator==(const Group&, const Group&) = default;
  };

  std::vector<Group> groups_of(const RunList& runs) const;
  void values_changed();
  QVariant group_data(const Group& group, int column, int role) const;

  SharedRunList runs_ = std::make_shared<const RunList>();
  std::optional<RunColumn> grouped_by_;
  std::vector<Group> groups_;  ///< empty unless grouped
};

}  // namespace ddbench::gui
