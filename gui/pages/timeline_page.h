#pragma once

#include "gui/workspace/page.h"

class QHBoxLayout;
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
  void changeEvent(QEvent* event) override;

 private:
  void make_legend(QHBoxLayout* row);
  void color_legend();
  void show_legend_of(const struct Timeline& timeline);
  void search();
  void show_words();

  QLineEdit* search_;
  QLabel* found_;
  QLabel* words_;
  std::vector<QLabel*> legend_;
  TimelineView* view_;
};

}  // namespace ddbench::gui
