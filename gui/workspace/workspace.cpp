#include "gui/workspace/workspace.h"

#include <algorithm>

namespace ddbench::gui {

bool any_recorded(const Entries& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const RunEntry* entry) { return !entry->run().provenance.has(Provenance::kImported); });
}

void Workspace::set_runs(SharedRunList list) {
  runs = std::move(list);
  index = RunIndex(*runs);
  std::set<store::RunId> left;
  for (const RunEntry* entry : entries_with_ids(*runs, selection)) left.insert(entry->run().id);
  selection = std::move(left);
  if (chosen_by_hand && !runs_of(subject).empty()) return;
  chosen_by_hand = false;
  subject = index.sweeps().empty() ? Subject{} : Subject{Subject::Kind::kSweep, index.sweeps().front().id};
}

Subject Workspace::subject_for(const Suits& suits) const {
  if (chosen_by_hand || suits(runs_of(subject))) return subject;
  for (const SweepChoice& sweep : index.sweeps()) {
    if (suits(index.of_sweep(sweep.id))) return {Subject::Kind::kSweep, sweep.id};
  }
  return suits(index.all()) ? Subject{} : subject;
}

Entries Workspace::runs_of(const Subject& which) const {
  switch (which.kind) {
    case Subject::Kind::kSweep: return index.of_sweep(which.sweep_id);
    case Subject::Kind::kSelection: return entries_with_ids(*runs, selection);
    case Subject::Kind::kAll: break;
  }
  return index.all();
}

std::string Workspace::key_of(const Subject& which) const {
  std::string key;
  for (const RunEntry* entry : runs_of(which)) {
    const store::RunRecord& record = entry->run();
    key += record.id;
    key += record.state == store::RunState::kRunning ? '+' : record.valid ? '.' : '!';
    key += record.baseline_id + ' ' + std::to_string(record.finished_wall_ns) + ' ';
  }
  return key;
}

const RunEntry* Workspace::current_run(const Subject& which) const {
  const RunEntry* newest = nullptr;
  const Entries entries = runs_of(which);
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if ((*entry)->run().id == run) return *entry;
    const bool finished = (*entry)->run().state == store::RunState::kDone;
    const bool was_finished = newest != nullptr && newest->run().state == store::RunState::kDone;
    if (newest == nullptr || (finished && !was_finished)) newest = *entry;
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
      const Entries chosen_run = entries_with_ids(*runs, selection);
      const std::string sweep = chosen_run.empty() ? std::string() : chosen_run.front()->run().sweep_id;
      subject = sweep.empty() ? Subject{} : Subject{Subject::Kind::kSweep, sweep};
    }
  } else if (subject.kind == Subject::Kind::kSelection) {
    subject = {};
  }
  chosen_by_hand = chosen_by_hand || !selection.empty();
  changed();
}

}  // namespace ddbench::gui
