#pragma once

#include "gui/workspace/page.h"

class QComboBox;
class QPushButton;

namespace ddbench::gui {

class FigureCard;

/// Where the step's time goes: by size, against another size, and by rank.
class BreakdownPage : public Page {
 public:
  explicit BreakdownPage(Workspace& workspace);

  FigureCard& sizes() noexcept { return *sizes_; }
  FigureCard& waterfall() noexcept { return *waterfall_; }
  FigureCard& ranks() noexcept { return *ranks_; }
  FigureCard& third() noexcept { return *third_; }

 protected:
  void load() override;
  std::string key() const override;
  bool suits(const Entries& runs) const override { return any_recorded(runs); }

 private:
  void show_third();

  QComboBox* against_;
  QComboBox* which_third_;
  FigureCard* sizes_;
  FigureCard* waterfall_;
  FigureCard* ranks_;
  FigureCard* third_;
  std::vector<store::RunId> size_runs_;  ///< the newest run of each bar
  std::vector<std::string> size_labels_;
  std::vector<analyzer::Figure> thirds_;
};

}  // namespace ddbench::gui
