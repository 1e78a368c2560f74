#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>
#include <functional>
#include <vector>

namespace ddbench::gui {

struct Cell {
  QString text;
  QVariant key;  ///< what is sorted by; invalid: the text
  QString tip;   ///< why a value is missing, where it comes from
  bool is_number = false;
};

/// A cell with a number and the text that shows it.
Cell number_cell(double value, QString text);
/// "–", with the reason as its tip.
Cell missing_cell(const std::string& reason);
Cell text_cell(const std::string& text);

struct CellTable {
  std::vector<QString> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
};

/// A CellTable as a model, for the tables beside charts. Belongs to the GUI thread.
class CellTableModel : public QAbstractTableModel {
 public:
  static constexpr int kSortRole = Qt::UserRole + 1;
  /// The row of the table as it was given, whatever it is sorted by.
  static constexpr int kRowRole = Qt::UserRole + 2;

  explicit CellTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void set_table(CellTable table);
  const CellTable& table() const noexcept { return table_; }

  /// Columns that can be written into; `edited` decides whether the text is taken.
  std::vector<int> editable_columns;
  std::function<bool(int row, int column, const QString& text)> edited;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  bool is_number_column(int column) const;
  CellTable table_;
};

/// RFC 4180, with a heading row; what would be a formula stands behind an apostrophe.
QString csv_of(const CellTable& table);

}  // namespace ddbench::gui
