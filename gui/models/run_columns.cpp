#include "gui/models/run_columns.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/run_case/program_case.h"
#include "core/text/quantity.h"

namespace ddbench::gui {
namespace {

using analyzer::RunMetric;

const QString kNone = QStringLiteral("–");

QString or_none(const std::string& text) {
  return text.empty() ? kNone : QString::fromStdString(text);
}

QString network_of(const store::RunRecord& run) {
  const QString network = or_none(run.environment.network);
  return network == kNone && !run.run_case.link.empty() ? QString::fromStdString(run.run_case.link) : network;
}

/// Where published figures come from, and how their machine was given a SKU: the tags of an import. "–" for other runs.
QString source_of(const store::RunRecord& run) {
  const auto tag = [&](const char* name) {
    const auto found = run.run_case.tags.find(name);
    return found == run.run_case.tags.end() ? QString() : QString::fromStdString(found->second);
  };
  const QString source = tag("source");
  const QString machine = tag("sku_is");
  if (machine.isEmpty()) return source.isEmpty() ? kNone : source;
  return (source.isEmpty() ? source : source + QStringLiteral(" · ")) + QStringLiteral("SKU: ") + machine;
}

QString metric_text(const RunEntry& entry, RunMetric metric) {
  const Measured<double>& value = entry.measures[metric];
  if (!value) return entry.measured ? kNone : QString();
  if (metric == RunMetric::kEfficiency) return QString::number(100 * *value, 'f', 1) + QStringLiteral("%");
  if (!std::isfinite(*value)) return kNone;
  return QString::fromStdString(metric == RunMetric::kStepTime ? time_in_words(*value) : number(*value, 4));
}

QString state_text(const RunEntry& entry) {
  const store::RunRecord& run = entry.run();
  if (run.state == store::RunState::kRunning && entry.steps_seen > 0) {
    if (run.run_case.ends_by_margin()) return QStringLiteral("running %1").arg(entry.steps_seen);
    return QStringLiteral("running %1/%2").arg(entry.steps_seen).arg(run.run_case.total_steps());
  }
  if (run.state == store::RunState::kDone && !run.valid) return QStringLiteral("invalid");
  const std::string_view text = store::to_string(run.state);
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

RunMetric metric_of(RunColumn column) {
  switch (column) {
    case RunColumn::kEfficiency: return RunMetric::kEfficiency;
    case RunColumn::kThroughput: return RunMetric::kThroughput;
    default: return RunMetric::kStepTime;
  }
}

}  // namespace

QString title_of(RunColumn column) {
  static const std::array<const char*, kRunColumnCount> kTitles{
      "Started",   "Name",  "Workload", "Nodes × GPUs", "Batch / GPU", "Efficiency", "Samples / s",
      "Step time", "State", "Network",  "SKU",          "Precision",   "Strategy",   "Provenance",
      "Source"};
  return QString::fromUtf8(kTitles[static_cast<std::size_t>(column)]);
}

bool is_number(RunColumn column) {
  return column == RunColumn::kBatch || column == RunColumn::kEfficiency ||
         column == RunColumn::kThroughput || column == RunColumn::kStepTime;
}

QString text_of(const RunEntry& entry, RunColumn column) {
  const store::RunRecord& run = entry.run();
  switch (column) {
    case RunColumn::kStarted: return date_text(run.started_wall_ns);
    case RunColumn::kWorkload: return QString::fromStdString(work_name(run.run_case.work));
    case RunColumn::kSize: return size_text(run);
    case RunColumn::kSku: return or_none(run.run_case.sku);
    case RunColumn::kNetwork: return network_of(run);
    case RunColumn::kBatch:
      return is_training(run.run_case) && has_known_batch(run.run_case) ? QString::number(run.run_case.batch_per_gpu) : or_none({});
    case RunColumn::kPrecision: return or_none(run.run_case.precision);
    case RunColumn::kStrategy: return or_none(run.run_case.strategy);
    case RunColumn::kProvenance: return provenance_text(run.provenance);
    case RunColumn::kSource: return source_of(run);
    case RunColumn::kState: return state_text(entry);
    case RunColumn::kName: return or_none(run.run_case.name);
    default: return metric_text(entry, metric_of(column));
  }
}

QVariant sort_key_of(const RunEntry& entry, RunColumn column) {
  const store::RunRecord& run = entry.run();
  switch (column) {
    case RunColumn::kStarted: return QVariant::fromValue<qlonglong>(run.started_wall_ns);
    case RunColumn::kSize:
      return QVariant::fromValue<qlonglong>(std::int64_t{run.run_case.world_size()} * 1'000'000 + run.run_case.nodes);
    case RunColumn::kBatch: return QVariant::fromValue<qlonglong>(run.run_case.batch_per_gpu);
    case RunColumn::kEfficiency:
    case RunColumn::kThroughput:
    case RunColumn::kStepTime: {
      const Measured<double>& value = entry.measures[metric_of(column)];
      return value ? QVariant(*value) : QVariant();
    }
    default: return text_of(entry, column);
  }
}

QString tip_of(const RunEntry& entry, RunColumn column) {
  const store::RunRecord& run = entry.run();
  if (column == RunColumn::kState) {
    if (!run.reason.empty()) return QString::fromStdString(run.reason);
    if (!run.valid) return QString::fromStdString(run.invalid_reason);
  }
  if (column == RunColumn::kEfficiency || column == RunColumn::kThroughput ||
      column == RunColumn::kStepTime) {
    const Measured<double>& value = entry.measures[metric_of(column)];
    if (!value && entry.measured) return QString::fromStdString(value.reason());
  }
  if (column == RunColumn::kStarted) return QString::fromStdString(run.id);
  return text_of(entry, column);
}

const std::vector<RunColumn>& grouping_columns() {
  static const std::vector<RunColumn> kColumns{
      RunColumn::kWorkload, RunColumn::kSize,      RunColumn::kSku,      RunColumn::kNetwork,
      RunColumn::kBatch,    RunColumn::kPrecision, RunColumn::kStrategy, RunColumn::kProvenance,
      RunColumn::kState,    RunColumn::kName};
  return kColumns;
}

}  // namespace ddbench::gui
