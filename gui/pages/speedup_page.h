#pragma once

#include "gui/workspace/page.h"

class QCheckBox;
class QComboBox;

namespace ddbench::gui {

class FigureCard;
class TableCard;

/// Speedup and efficiency over GPUs: a curve a group, with intervals, the ideal and the fitted law.
class SpeedupPage : public Page {
 public:
  explicit SpeedupPage(Workspace& workspace);

  FigureCard& speedup() noexcept { return *speedup_; }
  FigureCard& efficiency() noexcept { return *efficiency_; }
  TableCard& rows() noexcept { return *rows_; }
  QComboBox& split_box() noexcept { return *split_; }

 protected:
  void load() override;
  bool suits(const Entries& runs) const override;

 private:
  QComboBox* split_;
  QComboBox* baseline_;
  QCheckBox* any_provenance_;
  FigureCard* speedup_;
  FigureCard* efficiency_;
  TableCard* rows_;
};

}  // namespace ddbench::gui
