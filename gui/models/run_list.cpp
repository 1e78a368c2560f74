#include "gui/models/run_list.h"

#include <QDateTime>
#include <QStringList>
#include <algorithm>

#include "analyzer/store/rows/abandoned.h"
#include "reports/text/phrases.h"

namespace ddbench::gui {
namespace {

bool is_same(const store::RunRecord& a, const store::RunRecord& b) {
  return a.state == b.state && a.finished_wall_ns == b.finished_wall_ns && a.valid == b.valid &&
         a.baseline_id == b.baseline_id && a.started_wall_ns == b.started_wall_ns && a.sweep_id == b.sweep_id;
}

int steps_seen(const store::RunStore& store, const store::RunRecord& run) {
  const auto losses = store.step_values(run.id, 0, "loss");
  return losses.empty() ? 0 : static_cast<int>(losses.back().first) + 1;
}

QString sweep_text(const store::RunRecord& run) {
  QString text = short_date_text(run.started_wall_ns) + QStringLiteral(" · ");
  const QString work = QString::fromStdString(work_name(run.run_case.work));
  const QString name = QString::fromStdString(run.run_case.name);
  if (!name.isEmpty() && name != work) text += name + QStringLiteral(" · ");
  return text + work;
}

}  // namespace

RunList list_runs(const store::RunStore& store, const RunList& known) {
  std::map<store::RunId, const RunEntry*> by_id;
  for (const RunEntry& entry : known) by_id[entry.run().id] = &entry;
  RunList list;
  for (store::RunRecord& run : store.runs()) {
    store::close_abandoned(run);
    RunEntry entry;
    const auto found = by_id.find(run.id);
    if (found != by_id.end() && is_same(found->second->run(), run)) entry = *found->second;
    entry.measures.run = std::move(run);
    if (entry.run().state == store::RunState::kRunning) entry.steps_seen = steps_seen(store, entry.run());
    list.push_back(std::move(entry));
  }
  return list;
}

void measure_entries(const store::RunStore& store, RunList& list, std::size_t first, std::size_t last) {
  std::vector<store::RunRecord> runs;
  std::vector<std::size_t> places;
  for (std::size_t i = first; i < std::min(last, list.size()); ++i) {
    if (list[i].measured || list[i].run().state == store::RunState::kRunning) continue;
    runs.push_back(list[i].run());
    places.push_back(i);
  }
  std::vector<analyzer::RunMeasures> measures = analyzer::measure_runs(store, runs);
  for (std::size_t i = 0; i < places.size(); ++i) {
    RunEntry& entry = list[places[i]];
    store::RunRecord run = std::move(entry.measures.run);
    entry.measures = std::move(measures[i]);
    entry.measures.run = std::move(run);  // abandoned runs are shown as interrupted
    entry.measured = true;
  }
}

std::vector<SweepChoice> sweeps_of(const RunList& list) {
  std::vector<SweepChoice> sweeps;
  std::map<std::string, std::size_t> places;
  for (const RunEntry& entry : list) {
    const store::RunRecord& run = entry.run();
    if (run.sweep_id.empty()) continue;
    const auto [place, is_new] = places.try_emplace(run.sweep_id, sweeps.size());
    if (is_new) {
      sweeps.push_back({run.sweep_id, sweep_text(run), 0});
    }
    ++sweeps[place->second].runs;
  }
  for (SweepChoice& sweep : sweeps) sweep.label += QStringLiteral(" · ") + runs_text(sweep.runs);
  return sweeps;
}

QString runs_text(std::size_t count) {
  return QString::number(count) + (count == 1 ? QStringLiteral(" run") : QStringLiteral(" runs"));
}

QString date_text(std::int64_t wall_ns) {
  if (wall_ns <= 0) return {};
  return QDateTime::fromMSecsSinceEpoch(wall_ns / 1'000'000).toString(QStringLiteral("d MMM yyyy hh:mm"));
}

QString short_date_text(std::int64_t wall_ns) {
  if (wall_ns <= 0) return {};
  return QDateTime::fromMSecsSinceEpoch(wall_ns / 1'000'000).toString(QStringLiteral("d MMM hh:mm"));
}

QString size_text(const store::RunRecord& run) {
  return QString::fromStdString(reports::shape_in_short(run.run_case));
}

QString spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return QString::fromStdString(text);
}

QString provenance_text(ProvenanceSet provenance) {
  QStringList names;
  for (const std::string_view name : provenance.names()) {
    names << QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
  }
  return names.join(QStringLiteral(", "));
}

}  // namespace ddbench::gui
