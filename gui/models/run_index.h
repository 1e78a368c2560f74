#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gui/models/run_list.h"

namespace ddbench::gui {

/// Runs of a list, oldest first as the analyzer's functions return them. They point into the list.
using Entries = std::vector<const RunEntry*>;

/// The runs of a list by sweep. Built once for a list, which must outlive it: the pages ask for them many times a refresh.
class RunIndex {
 public:
  RunIndex() = default;
  explicit RunIndex(const RunList& list);

  const std::vector<SweepChoice>& sweeps() const noexcept { return sweeps_; }  ///< newest first
  /// With the baselines of its runs; empty if there is no such sweep.
  const Entries& of_sweep(const std::string& sweep_id) const;
  /// But for runs that are only baselines.
  const Entries& all() const noexcept { return all_; }

 private:
  std::vector<SweepChoice> sweeps_;
  std::map<std::string, Entries> by_sweep_;
  Entries all_;
};

Entries entries_with_ids(const RunList& list, const std::set<store::RunId>& ids);
std::vector<store::RunRecord> records_of(const Entries& entries);

}  // namespace ddbench::gui
