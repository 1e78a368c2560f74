#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <map>

class QHeaderView;
class QMenu;
class QSettings;
class QWidget;

namespace ddbench::gui {

/// Lets the user choose a table's columns: a context menu on its header, which lists them by title. The choice
/// outlives refreshed tables and, with settings, the window. At least one column stays. Lives with the header.
class ColumnChoice : public QObject {
 public:
  /// `table`: what the choice is stored as, "columns/<table>"; `settings` may be null.
  ColumnChoice(QHeaderView& header, QString table, QSettings* settings);

  /// Hides a column that the user has not decided on, or shows it again.
  void show_by_default(int column, bool shown);
  void choose(int column, bool shown);
  void reset();
  bool is_shown(int column) const;
  void fill(QMenu& menu);

  std::function<void()> on_change;  ///< other columns are shown

 private:
  QString title(int column) const;
  int shown_count() const;
  void apply();
  void save() const;

  QHeaderView& header_;
  QString table_;
  QSettings* settings_;
  std::map<QString, bool> chosen_;   ///< by title
  std::map<QString, bool> default_;  ///< by title; shown where absent
};

/// A choice for each table of cells on the page, stored by the table's accessible name.
void add_column_choices(QWidget& page, QSettings* settings);

}  // namespace ddbench::gui
