#pragma once

#include "gui/workspace/page.h"

class QComboBox;
class QLabel;

namespace ddbench::gui {

class FigureCard;
class TableCard;

/// A metric over the history of a case with its changes of level, and the gate's verdict on two sides.
class RegressionsPage : public Page {
 public:
  explicit RegressionsPage(Workspace& workspace);

  FigureCard& history() noexcept { return *history_; }
  TableCard& verdict() noexcept { return *verdict_; }
  QLabel& outcome() noexcept { return *outcome_; }
  QComboBox& series_box() noexcept { return *series_box_; }
  void judge(const QString& baseline, const QString& candidate);
  void unload(const QString& title, const QString& text) override;

 protected:
  void load() override;
  std::string key() const override;
  void show_failure(const std::string& slot, const JobFailure& failure) override;

 private:
  struct Series;
  struct Verdict;
  void show_series();
  void load_verdict();
  void show_verdict(Verdict verdict);
  void clear_verdict(const QString& words);
  void fill_references();

  QComboBox* metric_;
  QComboBox* series_box_;
  FigureCard* history_;
  TableCard* changes_;
  QComboBox* baseline_;
  QComboBox* candidate_;
  QLabel* outcome_;
  TableCard* verdict_;
  std::vector<Series> series_;
};

}  // namespace ddbench::gui
