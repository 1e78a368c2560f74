#include "gui/models/run_filter.h"

#include <QStringList>
#include <algorithm>

namespace ddbench::gui {

void FilterHistory::change(RunFilter filter) {
  if (filter == current()) return;
  RunFilter without_text = filter;
  without_text.text = current().text;
  const bool only_text = without_text == current();
  const bool goes_on = only_text && at_ > 0 && !current().text.isEmpty() && !filter.text.isEmpty();
  states_.resize(at_ + 1);
  if (goes_on) {
    states_[at_] = std::move(filter);
    return;
  }
  states_.push_back(std::move(filter));
  ++at_;
}

const RunFilter& FilterHistory::undo() {
  if (can_undo()) --at_;
  return current();
}

const RunFilter& FilterHistory::redo() {
  if (can_redo()) ++at_;
  return current();
}

RunFilterProxy::RunFilterProxy(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(RunTableModel::kSortRole);
  setRecursiveFilteringEnabled(true);
}

void RunFilterProxy::set_filter(const RunFilter& filter) {
  filter_ = filter;
  words_ = filter.text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidateFilter();
}

const RunEntry* RunFilterProxy::entry(const QModelIndex& proxy_index) const {
  return runs()->entry(mapToSource(proxy_index));
}

std::vector<store::RunId> RunFilterProxy::visible_runs() const {
  std::vector<store::RunId> ids;
  const auto add = [&](const QModelIndex& index) {
    if (const RunEntry* run = entry(index)) ids.push_back(run->run().id);
  };
  for (int row = 0; row < rowCount(); ++row) {
    const QModelIndex top = index(row, 0);
    add(top);
    for (int child = 0; child < rowCount(top); ++child) add(index(child, 0, top));
  }
  return ids;
}

bool RunFilterProxy::filterAcceptsRow(int row, const QModelIndex& parent) const {
  const RunEntry* run = runs()->entry(runs()->index(row, 0, parent));
  if (run == nullptr) return false;  // a group: by its runs
  for (const auto& [column, value] : filter_.equal) {
    if (text_of(*run, column) != value) return false;
  }
  if (words_.isEmpty()) return true;
  QString all =
      QString::fromStdString(run->run().id) + QLatin1Char(' ') + QString::fromStdString(run->run().sweep_id);
  for (int column = 0; column < kRunColumnCount; ++column) {
    all += QLatin1Char(' ') + text_of(*run, static_cast<RunColumn>(column));
  }
  return std::all_of(words_.begin(), words_.end(),
                     [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

bool RunFilterProxy::lessThan(const QModelIndex& a, const QModelIndex& b) const {
  const QVariant left = a.data(RunTableModel::kSortRole);
  const QVariant right = b.data(RunTableModel::kSortRole);
  if (left.isValid() != right.isValid()) return (sortOrder() == Qt::AscendingOrder) == left.isValid();
  if (!left.isValid()) return false;
  if (left.typeId() == QMetaType::QString)
    return QString::localeAwareCompare(left.toString(), right.toString()) < 0;
  return left.toDouble() < right.toDouble();
}

}  // namespace ddbench::gui
