#include "gui/models/run_table_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "gui/models/tool_tip.h"

namespace ddbench::gui {
namespace {

bool has_same_rows(const RunList& a, const RunList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const RunEntry& x, const RunEntry& y) { return x.run().id == y.run().id; });
}

QString mean_efficiency(const RunList& runs, const std::vector<std::size_t>& entries) {
  double sum = 0;  // of logarithms: runs are averaged geometrically, as everywhere
  int count = 0;
  for (const std::size_t i : entries) {
    if (!runs[i].measures[analyzer::RunMetric::kEfficiency]) continue;
    sum += std::log(*runs[i].measures[analyzer::RunMetric::kEfficiency]);
    ++count;
  }
  return count == 0 ? QString() : QStringLiteral("ø %1%").arg(100 * std::exp(sum / count), 0, 'f', 1);
}

}  // namespace

void RunTableModel::set_runs(SharedRunList runs) {
  std::vector<Group> groups = groups_of(*runs);
  if (has_same_rows(*runs, *runs_) && groups == groups_) {
    runs_ = std::move(runs);
    return values_changed();
  }
  beginResetModel();
  runs_ = std::move(runs);
  groups_ = std::move(groups);
  endResetModel();
}

void RunTableModel::values_changed() {
  const auto changed_below = [this](const QModelIndex& parent) {
    const int rows = rowCount(parent);
    if (rows > 0) Q_EMIT dataChanged(index(0, 0, parent), index(rows - 1, kRunColumnCount - 1, parent));
  };
  for (std::size_t group = 0; group < groups_.size(); ++group) changed_below(index(static_cast<int>(group), 0));
  changed_below({});
}

void RunTableModel::group_by(std::optional<RunColumn> column) {
  if (column == grouped_by_) return;
  beginResetModel();
  grouped_by_ = column;
  groups_ = groups_of(*runs_);
  endResetModel();
}

std::vector<RunTableModel::Group> RunTableModel::groups_of(const RunList& runs) const {
  std::vector<Group> groups;
  if (!grouped_by_) return groups;
  std::map<QString, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const QString title = text_of(runs[i], *grouped_by_);
    const auto [place, is_new] = places.try_emplace(title, groups.size());
    if (is_new) groups.push_back({title, {}});
    groups[place->second].entries.push_back(i);
  }
  return groups;
}

const RunEntry* RunTableModel::entry(const QModelIndex& index) const {
  if (!index.isValid()) return nullptr;
  const auto row = static_cast<std::size_t>(index.row());
  if (!grouped_by_) return &(*runs_)[row];
  if (index.internalId() == 0) return nullptr;
  return &(*runs_)[groups_[index.internalId() - 1].entries[row]];
}

QModelIndex RunTableModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : 0);
}

QModelIndex RunTableModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) return {};
  return createIndex(static_cast<int>(index.internalId()) - 1, 0, quintptr{0});
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(grouped_by_ ? groups_.size() : runs_->size());
  if (!grouped_by_ || parent.internalId() != 0 || parent.column() != 0) return 0;
  return static_cast<int>(groups_[static_cast<std::size_t>(parent.row())].entries.size());
}

int RunTableModel::columnCount(const QModelIndex&) const {
  return kRunColumnCount;
}

QVariant RunTableModel::group_data(const Group& group, int column, int role) const {
  if (role == kSortRole && column == 0) return group.title;
  if (role != Qt::DisplayRole) return {};
  if (column == 0) return QStringLiteral("%1  (%2)").arg(group.title).arg(group.entries.size());
  if (static_cast<RunColumn>(column) == RunColumn::kEfficiency) return mean_efficiency(*runs_, group.entries);
  return {};
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const auto column = static_cast<RunColumn>(index.column());
  if (role == Qt::TextAlignmentRole) {
    return QVariant::fromValue<int>((is_number(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  const RunEntry* run = entry(index);
  if (run == nullptr) return group_data(groups_[static_cast<std::size_t>(index.row())], index.column(), role);
  switch (role) {
    case Qt::DisplayRole: return text_of(*run, column);
    case Qt::ToolTipRole: return tool_tip(tip_of(*run, column));
    case kSortRole: return sort_key_of(*run, column);
    case kRunIdRole: return QString::fromStdString(run->run().id);
    case kStateRole: return static_cast<int>(run->run().valid ? run->run().state : store::RunState::kFailed);
    case Qt::AccessibleTextRole: return title_of(column) + QStringLiteral(": ") + text_of(*run, column);
    default: return {};
  }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= kRunColumnCount) return {};
  const auto column = static_cast<RunColumn>(section);
  if (role == Qt::DisplayRole) return title_of(column);
  if (role == Qt::TextAlignmentRole) {
    return QVariant::fromValue<int>((is_number(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  return {};
}

}  // namespace ddbench::gui
