#include "reports/tables/prediction_content.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {

std::string gain_in_words(double gain) {
  return fmt::format("{}{}", gain < 0 ? "" : "+", percent_in_words(gain));
}

DataTable prediction_data(const PredictionReport& report) {
  DataTable table;
  table.columns = {{"nodes x GPUs"},
                   {"step time", true},
                   {report.counts_samples ? "samples/s" : "steps/s", true},
                   {"95% CI"},
                   {"rate per GPU", true, "over that of the recorded run"},
                   {"waits", true, "share of the step in which ranks wait for collectives"}};
  const double recorded = report.recorded_samples_per_s / report.recorded.gpus();
  for (const analyzer::ReplayPrediction& prediction : report.predictions) {
    const ConfidenceInterval& interval = prediction.samples_per_s.interval;
    const double unit = report.counts_samples ? 1 : prediction.shape.gpus();  // of the column's rate
    const double own = prediction.samples_per_s.value / prediction.shape.gpus();
    const double waits = prediction.waited_ns / prediction.step_ns.value;
    table.rows.push_back(
        {value_cell(prediction.shape.gpus(), fmt::format("{} x {}", prediction.shape.nodes, prediction.shape.gpus_per_node)),
         value_cell(prediction.step_ns.value, time_in_words(prediction.step_ns.value)),
         value_cell(prediction.samples_per_s.value / unit, number(prediction.samples_per_s.value / unit, 4), CellTone::kStrong),
         text_cell(fmt::format("{} to {}", number(interval.low / unit, 4), number(interval.high / unit, 4)), CellTone::kFaint),
         recorded > 0 ? value_cell(own / recorded, percent_in_words(own / recorded)) : missing_cell("the run has no rate"),
         value_cell(waits, percent_in_words(waits))});
  }
  return table;
}

DataTable advice_data(const analyzer::AdviceReport& report, std::size_t most) {
  DataTable table;
  table.caption = "What to change first";
  table.detail = fmt::format("single changes, by replays of the recorded step: {}, of which ranks wait {} for collectives",
                             time_in_words(report.step_ns.value),
                             percent_in_words(report.waited_ns / report.step_ns.value));
  if (report.advice.empty()) table.detail += ". No single change gains more than the noise";
  table.columns = {{"change"},
                   {"throughput", true, "predicted gain in samples/s"},
                   {"95% CI"},
                   {"step time", true, "predicted, of a step with the change"}};
  for (const analyzer::Advice& advice : report.advice) {
    if (table.rows.size() == most) break;
    DataCell change = text_cell(advice.change);
    change.why = advice.assumption;
    DataCell gain = value_cell(advice.gain.value, gain_in_words(advice.gain.value), CellTone::kStrong);
    gain.why = advice.gain.interval.method;
    table.rows.push_back({std::move(change), std::move(gain),
                          text_cell(gain_in_words(advice.gain.interval.low) + " to " +
                                        gain_in_words(advice.gain.interval.high),
                                    CellTone::kFaint),
                          value_cell(advice.step_ns, time_in_words(advice.step_ns))});
  }
  return table;
}

std::vector<std::string> advice_remarks(const analyzer::AdviceReport& report) {
  std::vector<std::string> remarks;
  for (const analyzer::Advice& advice : report.advice) {
    if (!advice.assumption.empty()) remarks.push_back(advice.change + ": " + advice.assumption);
  }
  for (const std::string& change : report.no_gain) remarks.push_back("no gain: " + change);
  for (const std::string& change : report.not_known) remarks.push_back("not known: " + change);
  remarks.insert(remarks.end(), report.notes.begin(), report.notes.end());
  return remarks;
}

}  // namespace ddbench::reports
