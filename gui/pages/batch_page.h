#pragma once

#include "gui/workspace/page.h"

class QComboBox;

namespace ddbench::gui {

class FigureCard;
class TableCard;

/// The effect of larger batches: steps, samples, time and cost to the target loss, and the critical batch.
class BatchPage : public Page {
 public:
  explicit BatchPage(Workspace& workspace);

  TableCard& rows() noexcept { return *rows_; }

 protected:
  void load() override;
  bool suits(const Entries& runs) const override;
  void show_failure(const std::string& slot, const JobFailure& failure) override;

 private:
  struct Curve;
  struct Loaded;
  static Loaded load_batches(JobContext& context, const std::vector<store::RunRecord>& runs);
  void show_curve();

  QComboBox* curve_;
  FigureCard* steps_;
  FigureCard* time_;
  TableCard* rows_;
  std::vector<Curve> curves_;
};

}  // namespace ddbench::gui
