#include "gui/models/data_table_model.h"

#include <algorithm>

#include "gui/models/tool_tip.h"
#include "reports/text/safe_text.h"

namespace ddbench::gui {

namespace {

/// "Step time" of "step time".
QString heading(const std::string& title) {
  QString text = QString::fromStdString(title);
  if (text == QLatin1String("lr")) return text.toUpper();
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace

void DataTableModel::set_table(reports::DataTable table) {
  beginResetModel();
  table_ = std::move(table);
  brief_.assign(table_.columns.size(), false);
  has_keys_.assign(table_.columns.size(), false);
  for (const std::vector<reports::DataCell>& row : table_.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) has_keys_[i] = has_keys_[i] || row[i].sort_by.has_value();
  }
  endResetModel();
}

void DataTableModel::set_brief(int column, bool brief) {
  const auto at = static_cast<std::size_t>(column);
  if (brief_[at] == brief) return;
  brief_[at] = brief;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, column), index(rowCount() - 1, column), {Qt::DisplayRole});
}

bool DataTableModel::has_brief(int column) const {
  const auto at = static_cast<std::size_t>(column);
  return std::any_of(table_.rows.begin(), table_.rows.end(),
                     [at](const std::vector<reports::DataCell>& row) { return !row[at].brief.empty(); });
}

bool DataTableModel::is_brief() const {
  return std::find(brief_.begin(), brief_.end(), true) != brief_.end();
}

int DataTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int DataTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

QVariant DataTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const auto column = static_cast<std::size_t>(index.column());
  const reports::DataCell& cell = table_.rows[static_cast<std::size_t>(index.row())][column];
  const bool numeric = table_.columns[column].numeric;
  const QString text = QString::fromStdString(cell.text);
  switch (role) {
    case Qt::DisplayRole: return brief_[column] && !cell.brief.empty() ? QString::fromStdString(cell.brief) : text;
    case Qt::EditRole: return text;
    case Qt::ToolTipRole: {
      if (cell.why.empty()) return tool_tip(text);
      const QString why = QString::fromStdString(cell.why);
      return tool_tip(text == QStringLiteral("–") ? why : text + QLatin1Char('\n') + why);  // the column may cut the text
    }
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<int>((numeric ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::AccessibleTextRole: return heading(table_.columns[column].title) + QStringLiteral(": ") + text;
    case kSortRole:
      if (cell.sort_by) return *cell.sort_by;
      return numeric || has_keys_[column] ? QVariant() : QVariant(text);
    case kRowRole: return index.row();
    default: return {};
  }
}

bool DataTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !edited || !(flags(index) & Qt::ItemIsEditable)) return false;
  return edited(index.row(), index.column(), value.toString());
}

QVariant DataTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const reports::DataColumn& column = table_.columns[static_cast<std::size_t>(section)];
  // Columns of numbers are narrow: use the brief heading.
  if (role == Qt::DisplayRole) return heading(column.numeric && !column.brief.empty() ? column.brief : column.title);
  if (role == Qt::ToolTipRole) return tool_tip(QString::fromStdString(column.meaning.empty() ? column.title : column.meaning));
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue<int>((column.numeric ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

Qt::ItemFlags DataTableModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  const bool editable =
      std::find(editable_columns.begin(), editable_columns.end(), index.column()) != editable_columns.end();
  return editable && index.isValid() ? flags | Qt::ItemIsEditable : flags;
}

namespace {

/// Negative numbers are no formulas.
QString csv_cell(const QString& text) {
  bool is_number = false;
  text.toDouble(&is_number);
  return is_number && text == text.trimmed() ? text : QString::fromStdString(reports::csv_field(text.toStdString()));
}

}  // namespace

QString csv_of(const reports::DataTable& table) {
  QString csv;
  const auto add_row = [&](const auto& cells, const auto& text) {
    bool first = true;
    for (const auto& cell : cells) {
      if (!first) csv += QLatin1Char(',');
      first = false;
      csv += csv_cell(text(cell));
    }
    csv += QLatin1Char('\n');
  };
  add_row(table.columns, [](const reports::DataColumn& column) { return QString::fromStdString(column.title); });
  for (const std::vector<reports::DataCell>& row : table.rows) {
    add_row(row, [](const reports::DataCell& cell) {
      return cell.sort_by ? QString::number(*cell.sort_by, 'g', 12) : QString::fromStdString(cell.text);
    });
  }
  return csv;
}

}  // namespace ddbench::gui
