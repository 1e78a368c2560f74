#pragma once

#include <memory>
#include <string>

#include "gui/workspace/page.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QSlider;

namespace ddbench::gui {

class FigureCard;
class TableCard;
struct WhatIfStep;

/// Replays the recorded step of a run with other sizes, networks, batches and buckets, and shows which single
/// change gains most, and where the critical path across ranks lies.
class WhatIfPage : public Page {
 public:
  explicit WhatIfPage(Workspace& workspace);
  ~WhatIfPage() override;

  FigureCard& throughput() noexcept { return *throughput_; }
  TableCard& advice() noexcept { return *advice_; }
  TableCard& path() noexcept { return *path_; }
  QSlider& batch() noexcept { return *batch_.slider; }
  QSlider& nodes() noexcept { return *nodes_.slider; }

 protected:
  void load() override;
  std::string key() const override;
  bool suits(const Entries& runs) const override { return any_recorded(runs); }

 private:
  struct Control {
    QSlider* slider = nullptr;
    QLabel* value = nullptr;
  };
  Control add_slider(QGridLayout& grid, int row, const QString& name, int low, int high);
  void make_controls(QGridLayout& grid);
  void show_values();
  void show_advice(const WhatIfStep& step);
  void show_path(const store::RunRecord& run);
  /// Redraws the curve with the changes set in the controls.
  void predict();

  FigureCard* throughput_;
  TableCard* advice_;
  TableCard* path_;
  Control nodes_;
  Control bandwidth_;
  Control latency_;
  Control batch_;
  Control bucket_;
  QCheckBox* stragglers_ = nullptr;
  QCheckBox* data_wait_ = nullptr;
  QCheckBox* host_ = nullptr;
  std::shared_ptr<const WhatIfStep> step_;
};

}  // namespace ddbench::gui
