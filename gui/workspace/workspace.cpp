#include "gui/workspace/workspace.h"

#include <algorithm>

namespace ddbench::gui {

bool any_recorded(const std::vector<store::RunRecord>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const store::RunRecord& run) { return !run.provenance.has(Provenance::kImported); });
}

Subject Workspace::subject_for(const Suits& suits) const {
  if (chosen_by_hand || suits(records_of(subject))) return subject;
  for (const SweepChoice& sweep : sweeps_of(*runs)) {
    const Subject other{Subject::Kind::kSweep, sweep.id};
    if (suits(records_of(other))) return other;
  }
  return suits(records_of({})) ? Subject{} : subject;
}

std::vector<store::RunRecord> Workspace::records_of(const Subject& which) const {
  switch (which.kind) {
    case Subject::Kind::kSweep: return records_of_sweep(*runs, which.sweep_id);
    case Subject::Kind::kSelection: return records_with_ids(*runs, selection);
    case Subject::Kind::kAll: break;
  }
  std::vector<store::RunRecord> records;
  for (auto entry = runs->rbegin(); entry != runs->rend(); ++entry) {
    if (!entry->run().is_baseline) records.push_back(entry->run());
  }
  return records;
}

std::string Workspace::key_of(const Subject& which) const {
  std::string key;
  for (const store::RunRecord& record : records_of(which)) {
    key += record.id + (record.state == store::RunState::kRunning ? '+' : record.valid ? '.' : '!');
  }
  return key;
}

const RunEntry* Workspace::current_run(const Subject& which) const {
  const RunEntry* newest = nullptr;
  std::set<store::RunId> ids;
  for (const store::RunRecord& record : records_of(which)) ids.insert(record.id);
  for (const RunEntry& entry : *runs) {
    if (ids.count(entry.run().id) == 0) continue;
    if (entry.run().id == run) return &entry;
    const bool finished = entry.run().state == store::RunState::kDone;
    const bool was_finished = newest != nullptr && newest->run().state == store::RunState::kDone;
    if (newest == nullptr || (finished && !was_finished)) newest = &entry;
  }
  return newest;
}

void Workspace::choose_subject(Subject chosen) {
  subject = std::move(chosen);
  chosen_by_hand = true;
  changed();
}

void Workspace::choose_run(store::RunId chosen, const Subject& shown) {
  run = std::move(chosen);
  if (selection.size() == 1) selection = {run};
  subject = shown;
  chosen_by_hand = true;
  changed();
}

void Workspace::choose_runs(std::set<store::RunId> chosen) {
  selection = std::move(chosen);
  if (selection.size() > 1) {
    subject = {Subject::Kind::kSelection, {}};
  } else if (selection.size() == 1) {
    run = *selection.begin();
    const RunEntry* shown = current_run(subject);
    if (subject.kind == Subject::Kind::kSelection || shown == nullptr || shown->run().id != run) {
      const auto records = records_with_ids(*runs, selection);
      const std::string sweep = records.empty() ? std::string() : records.front().sweep_id;
      subject = sweep.empty() ? Subject{} : Subject{Subject::Kind::kSweep, sweep};
    }
  } else if (subject.kind == Subject::Kind::kSelection) {
    subject = {};
  }
  chosen_by_hand = chosen_by_hand || !selection.empty();
  changed();
}

}  // namespace ddbench::gui
