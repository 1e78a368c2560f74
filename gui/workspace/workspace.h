#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gui/models/run_list.h"
#include "gui/models/store_jobs.h"

namespace ddbench::gui {

enum class PageId {
  kOverview,
  kSpeedup,
  kBreakdown,
  kTimeline,
  kCollectives,
  kNetwork,
  kBatch,
  kCost,
  kRegressions,
  kWhatIf
};
inline constexpr int kPageCount = 10;

/// Which runs the pages are about.
struct Subject {
  enum class Kind { kSweep, kSelection, kAll };
  Kind kind = Kind::kAll;
  std::string sweep_id;  ///< of kSweep
  friend bool operator==(const Subject&, const Subject&) = default;
};

/// What all pages share. Owned by the window; GUI thread.
struct Workspace {
  explicit Workspace(StoreJobs& store_jobs) : jobs(store_jobs) {}

  StoreJobs& jobs;
  SharedRunList runs = std::make_shared<const RunList>();
  Subject subject;
  std::set<store::RunId> selection;  ///< chosen in the overview
  store::RunId run;                  ///< that pages about one run show; may be of no run any more

  /// A page changed subject, selection or run: the window tells the other pages.
  std::function<void()> changed;
  std::function<void(PageId)> open_page;

  /// Oldest first; runs that are only baselines are left out of kAll.
  std::vector<store::RunRecord> subject_records() const;
  /// Changes when a run joins, leaves or ends.
  std::string subject_key() const;
  /// `run` where the subject has it, else its newest finished run; null when it has none.
  const RunEntry* current_run() const;
};

}  // namespace ddbench::gui
