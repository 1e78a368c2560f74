#include "gui/models/cell_table_model.h"

#include <algorithm>

namespace ddbench::gui {

Cell number_cell(double value, QString text) {
  return {std::move(text), value, {}, true};
}

Cell missing_cell(const std::string& reason) {
  return {QStringLiteral("–"), QVariant(), QString::fromStdString(reason), true};
}

Cell text_cell(const std::string& text) {
  return {QString::fromStdString(text), {}, {}, false};
}

void CellTableModel::set_table(CellTable table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

int CellTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int CellTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

QVariant CellTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Cell& cell =
      table_.rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole: return cell.text;
    case Qt::ToolTipRole: return cell.tip.isEmpty() ? cell.text : cell.tip;
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<int>((cell.is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
      return table_.columns[static_cast<std::size_t>(index.column())] + QStringLiteral(": ") + cell.text;
    case kSortRole: return cell.is_number ? cell.key : QVariant(cell.text);
    case kRowRole: return index.row();
    default: return {};
  }
}

bool CellTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !edited || !(flags(index) & Qt::ItemIsEditable)) return false;
  return edited(index.row(), index.column(), value.toString());
}

bool CellTableModel::is_number_column(int column) const {
  return std::any_of(table_.rows.begin(), table_.rows.end(), [column](const std::vector<Cell>& row) {
    return row[static_cast<std::size_t>(column)].is_number;
  });
}

QVariant CellTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::DisplayRole) return table_.columns[static_cast<std::size_t>(section)];
  if (role == Qt::TextAlignmentRole) {
    return QVariant::fromValue<int>((is_number_column(section) ? Qt::AlignRight : Qt::AlignLeft) |
                                    Qt::AlignVCenter);
  }
  return {};
}

Qt::ItemFlags CellTableModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  const bool editable =
      std::find(editable_columns.begin(), editable_columns.end(), index.column()) != editable_columns.end();
  return editable && index.isValid() ? flags | Qt::ItemIsEditable : flags;
}

namespace {

QString csv_cell(QString text) {
  static const QString kFormula = QStringLiteral("=+-@\t\r");
  bool is_plain_number = false;
  text.toDouble(&is_plain_number);
  if (!text.isEmpty() && kFormula.contains(text.front()) && !is_plain_number) text.prepend(QLatin1Char('\''));
  if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) &&
      !text.contains(QLatin1Char('\n')))
    return text;
  text.replace(QLatin1Char('"'), QStringLiteral("\"\""));
  return QLatin1Char('"') + text + QLatin1Char('"');
}

}  // namespace

QString csv_of(const CellTable& table) {
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
  add_row(table.columns, [](const QString& title) { return title; });
  for (const std::vector<Cell>& row : table.rows) {
    add_row(row, [](const Cell& cell) {
      return cell.is_number && cell.key.isValid() ? QString::number(cell.key.toDouble(), 'g', 12) : cell.text;
    });
  }
  return csv;
}

}  // namespace ddbench::gui
