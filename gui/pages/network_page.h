#pragma once

#include "gui/workspace/page.h"

class QComboBox;

namespace ddbench::gui {

class FigureCard;
class TableCard;

/// Equal cases over different networks (or with different values of another field): throughput, bus
/// bandwidth, and each against a reference.
class NetworkPage : public Page {
 public:
  explicit NetworkPage(Workspace& workspace);

  FigureCard& throughput() noexcept { return *throughput_; }
  FigureCard& bandwidth() noexcept { return *bandwidth_; }
  TableCard& rows() noexcept { return *rows_; }

 protected:
  void load() override;
  bool suits(const Entries& runs) const override;

 private:
  QComboBox* field_;
  FigureCard* throughput_;
  FigureCard* bandwidth_;
  TableCard* rows_;
};

}  // namespace ddbench::gui
