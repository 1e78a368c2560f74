#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>
#include <functional>
#include <vector>

#include "reports/tables/data_table.h"

namespace ddbench::gui {

/// A table of the reports as a model, for the tables beside charts. Without its total. Belongs to the GUI thread.
class DataTableModel : public QAbstractTableModel {
 public:
  static constexpr int kSortRole = Qt::UserRole + 1;
  /// The row's index in the original table, independent of sorting.
  static constexpr int kRowRole = Qt::UserRole + 2;

  explicit DataTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void set_table(reports::DataTable table);
  const reports::DataTable& table() const noexcept { return table_; }

  /// Shows a column's cells by their brief forms, which the table's legend explains.
  void set_brief(int column, bool brief);
  bool has_brief(int column) const;  ///< some cell has a brief form
  bool is_brief() const;             ///< some column shows them

  /// Columns that the user can edit; `edited` decides whether the text is accepted.
  std::vector<int> editable_columns;
  std::function<bool(int row, int column, const QString& text)> edited;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  reports::DataTable table_;
  std::vector<bool> brief_;     ///< per column
  std::vector<bool> has_keys_;  ///< per column; a cell without a number as sort key is then a missing value
};

/// RFC 4180, with a heading row; text that could be read as a formula gets a leading apostrophe.
QString csv_of(const reports::DataTable& table);

}  // namespace ddbench::gui
