#pragma once

#include <QFrame>

#include "gui/tables/table_view.h"

class QLabel;

namespace ddbench::gui {

/// A table on a card, with a heading and one line of text under it.
class TableCard : public QFrame {
 public:
  explicit TableCard(const QString& title, QWidget* parent = nullptr);
  void set_title(const QString& title);
  void set_words(const QString& words);
  /// Without rows only the words stay.
  void set_table(reports::DataTable table);
  TableView& table() noexcept { return *table_; }

 private:
  /// The words, and what brief cells mean where the table shows some.
  void show_words();

  QLabel* title_;
  QString text_;
  QLabel* words_;
  TableView* table_;
  QWidget* spare_;  ///< takes the room of an empty table
};

}  // namespace ddbench::gui
