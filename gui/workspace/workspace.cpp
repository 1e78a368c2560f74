#include "gui/workspace/workspace.h"

namespace ddbench::gui {

std::vector<store::RunRecord> Workspace::subject_records() const {
  switch (subject.kind) {
    case Subject::Kind::kSweep: return records_of_sweep(*runs, subject.sweep_id);
    case Subject::Kind::kSelection: return records_with_ids(*runs, selection);
    case Subject::Kind::kAll: break;
  }
  std::vector<store::RunRecord> records;
  for (auto entry = runs->rbegin(); entry != runs->rend(); ++entry) {
    if (!entry->run().is_baseline) records.push_back(entry->run());
  }
  return records;
}

std::string Workspace::subject_key() const {
  std::string key;
  for (const store::RunRecord& record : subject_records()) {
    key += record.id + (record.state == store::RunState::kRunning ? '+' : record.valid ? '.' : '!');
  }
  return key;
}

const RunEntry* Workspace::current_run() const {
  const RunEntry* newest = nullptr;
  std::set<store::RunId> ids;
  for (const store::RunRecord& record : subject_records()) ids.insert(record.id);
  for (const RunEntry& entry : *runs) {
    if (ids.count(entry.run().id) == 0) continue;
    if (entry.run().id == run) return &entry;
    const bool finished = entry.run().state == store::RunState::kDone;
    const bool was_finished = newest != nullptr && newest->run().state == store::RunState::kDone;
    if (newest == nullptr || (finished && !was_finished)) newest = &entry;
  }
  return newest;
}

}  // namespace ddbench::gui
