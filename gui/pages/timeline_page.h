#pragma once

#include <QString>
#include <cstdint>
#include <optional>

#include "gui/workspace/page.h"

class QLabel;
class QLineEdit;

namespace ddbench::gui {

class TimelineView;

/// The spans of one run, on aligned clocks.
class TimelinePage : public Page {
 public:
  explicit TimelinePage(Workspace& workspace);

  TimelineView& view() noexcept { return *view_; }
  QLineEdit& search_field() noexcept { return *search_; }

 protected:
  void load() override;
  std::string key() const override;
  bool suits(const Entries& runs) const override { return any_recorded(runs); }
  void changeEvent(QEvent* event) override;

 private:
  void make_legend(QWidget& legend);
  void color_legend();
  void show_legend_of(const struct Timeline& timeline);
  void search();
  void show_words();
  const QString& totals_text();

  /// What was measured last in this timeline, and its totals: a range may have millions of spans, and the words are made anew with each zoom.
  struct Totals {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    QString text;
  };

  QLineEdit* search_;
  QLabel* found_;
  QLabel* words_;
  std::vector<QLabel*> legend_;
  TimelineView* view_;
  std::optional<Totals> totals_;
};

}  // namespace ddbench::gui
