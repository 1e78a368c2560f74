#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analyzer/statistics/statistics.h"
#include "core/text/quantity.h"
#include "reports/tables/prediction_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using Errors = std::vector<PredictionError>;

PredictionError error_of(double predicted, const ConfidenceInterval* interval, double measured) {
  return {predicted / measured - 1, interval != nullptr && interval->low <= measured && measured <= interval->high};
}

/// Prediction, interval and error of one kind, in the column's `unit`.
void add_cells(double predicted, const ConfidenceInterval* interval, const Measured<PredictionError>& error, double unit,
               std::vector<DataCell>& row) {
  if (!error) {
    for (int i = 0; i < 2; ++i) row.push_back(missing_cell(error.reason()));
    return;
  }
  DataCell value = value_cell(predicted / unit, number(predicted / unit, 4));
  if (interval != nullptr)
    value.text += fmt::format(" ({} to {})", number(interval->low / unit, 4), number(interval->high / unit, 4));
  row.push_back(std::move(value));
  DataCell off = value_cell(error->error, gain_in_words(error->error), error->held ? CellTone::kPlain : CellTone::kWarning);
  if (!error->held) off.why = "outside of the interval";
  row.push_back(std::move(off));
}

std::optional<std::string> remark_on(const char* kind, const Errors& errors) {
  if (errors.empty()) return {};
  std::vector<double> sizes;
  for (const PredictionError& error : errors) sizes.push_back(std::abs(error.error));
  const auto held = std::count_if(errors.begin(), errors.end(), [](const PredictionError& error) { return error.held; });
  return fmt::format("{}: median |error| {}, worst {}; {} of {} intervals hold what was measured", kind,
                     percent_in_words(analyzer::median(sizes)), percent_in_words(*std::max_element(sizes.begin(), sizes.end())),
                     held, errors.size());
}

}  // namespace

Measured<PredictionError> law_error(const analyzer::ValidatedSize& size) {
  if (!size.predicted) return Measured<PredictionError>::missing(size.predicted.reason());
  const auto& interval = size.predicted->interval;
  return error_of(size.predicted->throughput, interval ? &interval->interval : nullptr, size.samples_per_s);
}

Measured<PredictionError> replay_error(const analyzer::ReplayedSize& size) {
  if (!size.predicted) return Measured<PredictionError>::missing(size.predicted.reason());
  const analyzer::Estimate& rate = size.predicted->samples_per_s;
  return error_of(rate.value, &rate.interval, size.samples_per_s);
}

DataTable validation_data(const ValidationReport& report) {
  DataTable table;
  table.caption = "Each size, predicted from the smaller ones";
  table.columns = {{"nodes x GPUs"},  {report.counts_samples ? "samples/s" : "steps/s", true, "measured"},
                   {"by laws", true}, {"error", true, "predicted over measured, minus 1"},
                   {"by replay", true}, {"error", true, "predicted over measured, minus 1"}};
  for (std::size_t i = 0; i < report.laws.size(); ++i) {
    const analyzer::ValidatedSize& law = report.laws[i];
    const analyzer::ReplayedSize& replay = report.replays[i];
    const double unit = report.counts_samples ? 1 : law.shape.gpus();
    std::vector<DataCell> row = {
        value_cell(law.shape.gpus(), law.shape.nodes_not_stated ? gpus_in_words(static_cast<int>(law.shape.gpus())) : fmt::format("{} x {}", law.shape.nodes, law.shape.gpus_per_node)),
        value_cell(law.samples_per_s / unit, number(law.samples_per_s / unit, 4), CellTone::kStrong)};
    const bool known = law.predicted && law.predicted->interval;
    add_cells(law.predicted ? law.predicted->throughput : 0, known ? &law.predicted->interval->interval : nullptr,
              law_error(law), unit, row);
    add_cells(replay.predicted ? replay.predicted->samples_per_s.value : 0,
              replay.predicted ? &replay.predicted->samples_per_s.interval : nullptr, replay_error(replay), unit, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> validation_remarks(const ValidationReport& report) {
  Errors laws;
  Errors replays;
  std::vector<std::string> remarks;
  for (const analyzer::ValidatedSize& size : report.laws) {
    if (const auto error = law_error(size)) laws.push_back(*error);
  }
  for (const analyzer::ReplayedSize& size : report.replays) {
    if (const auto error = replay_error(size)) replays.push_back(*error);
  }
  if (const auto remark = remark_on("laws", laws)) remarks.push_back(*remark);
  if (const auto remark = remark_on("replay", replays)) remarks.push_back(*remark);
  if (replays.empty() && !report.replays.empty())
    remarks.push_back("replay: no prediction: " + report.replays.back().predicted.reason());
  if (laws.empty() && !report.laws.empty()) remarks.push_back("laws: no prediction: " + report.laws.back().predicted.reason());
  return remarks;
}

}  // namespace ddbench::reports
