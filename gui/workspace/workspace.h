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

/// The state that all pages share. Owned by the window; GUI thread.
struct Workspace {
  explicit Workspace(StoreJobs& store_jobs) : jobs(store_jobs) {}

  StoreJobs& jobs;
  SharedRunList runs = std::make_shared<const RunList>();
  Subject subject;
  std::set<store::RunId> selection;  ///< chosen in the overview
  store::RunId run;                  ///< that pages about one run show; may be of no run any more

  /// Called when a page changed subject, selection or run: the window notifies the other pages.
  std::function<void()> changed;
  std::function<void(PageId)> open_page;

  /// Oldest first; runs that are only baselines are left out of kAll.
  std::vector<store::RunRecord> subject_records() const;
  /// Changes when a run is added, removed or ends.
  std::string subject_key() const;
  /// `run` if the subject contains it, else the subject's newest finished run; null if there is none.
  const RunEntry* current_run() const;
};

}  // namespace ddbench::gui
