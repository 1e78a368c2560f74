#pragma once

#include <QFrame>
#include <QImage>
#include <string>

#include "gui/charts/chart_view.h"

class QLabel;
class QMenu;
class QToolButton;

namespace ddbench::gui {

class FlowLayout;

/// A chart on a card: title, legend that toggles series, the chart, its notes, and a menu to export, copy and
/// print. Belongs to the GUI thread.
class FigureCard : public QFrame {
 public:
  explicit FigureCard(QWidget* parent = nullptr);

  /// Hidden series stay hidden if the new figure has them too.
  void set_figure(analyzer::Figure figure);
  ChartView& view() noexcept { return *view_; }
  const ChartView& view() const noexcept { return *view_; }

  /// The figure as a standalone picture in the colours of the theme: the visible series, scales and range,
  /// with all notes below.
  QImage picture() const;
  void copy() const;
  /// The shown values as CSV.
  void copy_data() const;
  /// Format by the file name's extension in any case: .png, .svg or .csv. Throws Error{kBadInput} for any other
  /// extension, and the errors of OutputFile.
  void export_to(const std::string& file) const;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void make_menu();
  void add_exports(QMenu& menu);
  void show_menu(QPoint at, const std::optional<QString>& value);
  void make_legend();
  /// A button that shows and hides these entries of the legend.
  QToolButton* switch_of(const QList<QWidget*>& more);
  void show_notes();
  void ask_and_export(const QString& suffix);
  void print();

  QLabel* title_;
  QToolButton* all_;
  QToolButton* menu_;
  QWidget* legend_;
  ChartView* view_;
  QLabel* notes_;
  std::vector<reports::svg::LegendEntry> drawn_legend_;
  bool all_notes_ = false;
  bool all_series_ = false;
  bool for_picture_ = false;
};

}  // namespace ddbench::gui
