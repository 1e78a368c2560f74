#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gui/models/run_index.h"
#include "gui/models/store_jobs.h"

class QSettings;

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

/// Whether a page can show these runs.
using Suits = std::function<bool(const Entries&)>;
/// Any of them was measured here, step by step.
bool any_recorded(const Entries& runs);

/// The state that all pages share. Owned by the window; GUI thread.
struct Workspace {
  explicit Workspace(StoreJobs& store_jobs) : jobs(store_jobs) {}

  StoreJobs& jobs;
  SharedRunList runs = std::make_shared<const RunList>();  ///< of set_runs
  RunIndex index;                                          ///< of `runs`
  Subject subject;
  bool chosen_by_hand = false;       ///< the subject; until then a page without data in it may show another
  std::set<store::RunId> selection;  ///< chosen in the overview
  store::RunId run;                  ///< that pages about one run show; may be of no run any more

  /// Called when a page changed subject, selection or run: the window notifies the other pages.
  std::function<void()> changed;
  std::function<void(PageId)> open_page;
  QSettings* settings = nullptr;  ///< where the window's state is stored; null: not stored

  /// A new list: runs that are gone are no longer selected. The subject is the newest sweep unless one that still has runs was
  /// chosen by hand.
  void set_runs(SharedRunList list);
  /// What a page with these needs shows: the subject; until one was chosen by hand and if it does not suit, the
  /// newest sweep that does, or all runs where only those do.
  Subject subject_for(const Suits& suits) const;
  /// Oldest first; runs that are only baselines are left out of kAll. They point into `runs`.
  Entries runs_of(const Subject& subject) const;
  /// Copies of the same, for jobs.
  std::vector<store::RunRecord> records_of(const Subject& which) const { return gui::records_of(runs_of(which)); }
  /// Changes when a run is added, removed or ends.
  std::string key_of(const Subject& subject) const;
  /// `run` if the subject contains it, else the subject's newest finished run; null if there is none.
  const RunEntry* current_run(const Subject& subject) const;

  void choose_subject(Subject subject);
  /// A run of the subject that a page shows: both stay, on all pages.
  void choose_run(store::RunId chosen, const Subject& shown);
  /// One run: it is shown on all pages about one run, in its sweep unless the subject contains it. Several: they
  /// are the subject. None: nothing is selected; a subject of selected runs becomes all runs.
  void choose_runs(std::set<store::RunId> chosen);
};

}  // namespace ddbench::gui
