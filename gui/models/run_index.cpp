#include "gui/models/run_index.h"

#include <functional>
#include <string_view>
#include <unordered_map>

namespace ddbench::gui {

RunIndex::RunIndex(const RunList& list) : sweeps_(sweeps_of(list)) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < list.size(); ++i) places.emplace(list[i].run().id, i);
  std::map<std::string, std::set<std::size_t, std::greater<>>> members;  // the list is newest first
  for (std::size_t i = 0; i < list.size(); ++i) {
    const store::RunRecord& run = list[i].run();
    if (run.sweep_id.empty()) continue;
    auto& sweep = members[run.sweep_id];
    sweep.insert(i);
    if (const auto baseline = places.find(run.baseline_id); baseline != places.end()) sweep.insert(baseline->second);
  }
  for (const auto& [sweep, found] : members) {
    Entries& entries = by_sweep_[sweep];
    for (const std::size_t i : found) entries.push_back(&list[i]);
  }
  for (auto entry = list.rbegin(); entry != list.rend(); ++entry) {
    if (!entry->run().is_baseline) all_.push_back(&*entry);
  }
}

const Entries& RunIndex::of_sweep(const std::string& sweep_id) const {
  static const Entries kNone;
  const auto found = by_sweep_.find(sweep_id);
  return found == by_sweep_.end() ? kNone : found->second;
}

Entries entries_with_ids(const RunList& list, const std::set<store::RunId>& ids) {
  Entries entries;
  for (auto entry = list.rbegin(); entry != list.rend(); ++entry) {
    if (ids.count(entry->run().id) != 0) entries.push_back(&*entry);
  }
  return entries;
}

std::vector<store::RunRecord> records_of(const Entries& entries) {
  std::vector<store::RunRecord> records;
  records.reserve(entries.size());
  for (const RunEntry* entry : entries) records.push_back(entry->run());
  return records;
}

}  // namespace ddbench::gui
