#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::experiment {

/// How long the sign of life of a run of another machine must not have changed, by this machine's monotonic clock,
/// before its age by the wall clocks of two machines counts: three signs.
inline constexpr std::chrono::milliseconds kSignWatch{30'000};

struct TakeOver {
  bool forced = false;  ///< whatever its owner does
  /// If its owner gives no sign of life now: wait until it does, or until it has given none for
  /// store::kStaleAfter_ns. For jobs that a scheduler restarts, where nobody would try again.
  bool waits = false;
  std::function<void(const std::string&)> announce = {};  ///< once, before it waits
  std::chrono::milliseconds watch = kSignWatch;
  std::chrono::milliseconds look_every{1'000};
};

/// Of the same run: it is running, and its owner and its sign of life are what they were when `seen` was read.
bool is_unchanged(const store::RunRecord& now, const store::RunRecord& seen);

/// Those of `running` that no process drives any more, and why: those for which that is certain (store::is_abandoned), and
/// those of other machines whose signs are old, and did not change during `watch`. It waits that long when there are such.
std::map<store::RunId, std::string> gone_runs(const store::RunStore& store, std::span<const store::RunRecord> running,
                                              std::chrono::milliseconds watch = kSignWatch);

/// Closes a run that is stored as running though no process drives it any more: this process becomes its owner, if it
/// has given no sign meanwhile, and it is recovered as by recover_run, with that as the reason. A former owner that lives
/// after all finds that out with what it writes next. Does nothing to other runs. Throws Error{kBadInput} when a process
/// may still drive it, as each that lives on this machine does; the message names the process, and the remedy.
void take_over(store::RunStore& store, const store::RunId& id, const TakeOver& how);

}  // namespace ddbench::experiment
