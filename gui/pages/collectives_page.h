#pragma once

#include "gui/workspace/page.h"

namespace ddbench::gui {

class FigureCard;
class TableCard;

/// Bus bandwidth and time over size with the α–β fit and the link's ceiling; the buckets of one run.
class CollectivesPage : public Page {
 public:
  explicit CollectivesPage(Workspace& workspace);

  FigureCard& bandwidth() noexcept { return *bandwidth_; }
  FigureCard& time() noexcept { return *time_; }
  TableCard& buckets() noexcept { return *buckets_; }
  TableCard& fits() noexcept { return *fits_; }

 protected:
  void load() override;
  std::string key() const override;
  bool suits(const Entries& runs) const override { return any_recorded(runs); }

 private:
  FigureCard* bandwidth_;
  FigureCard* time_;
  TableCard* buckets_;
  TableCard* fits_;
};

}  // namespace ddbench::gui
