#include "reports/tables/prediction_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text/quantity.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

/// "bucket sizes: 0.5 MiB 12.1 ms, 1 MiB 11.2 ms (best), ..."; sizes that are as fast as a smaller one are
/// not listed.
std::string bucket_sizes_in_words(const analyzer::AdviceReport& report) {
  const analyzer::TriedBucket* best = analyzer::best_bucket(report);
  std::string words;
  double before = 0;
  for (const analyzer::TriedBucket& tried : report.buckets) {
    if (tried.step_ns == before) continue;
    before = tried.step_ns;
    words += fmt::format("{}{:g} MiB {}{}", words.empty() ? "bucket sizes: " : ", ", tried.bytes / (1 << 20),
                         time_in_words(tried.step_ns), &tried == best ? " (best)" : "");
  }
  return words;
}

}  // namespace

std::string gain_in_words(double gain) {
  constexpr double kShownAsZero = 0.0005;
  if (std::abs(gain) < kShownAsZero) gain = 0;  // not -0
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

DataTable path_data(const analyzer::CriticalPath& path, std::size_t most) {
  DataTable table;
  table.caption = "Critical path across ranks";
  const auto share = [&](double ns) { return path.step_ns > 0 ? ns / path.step_ns : 0; };
  table.detail = fmt::format("of {} recorded steps of {}:", path.steps, time_in_words(path.step_ns));
  for (const analyzer::PathShare& part : path.parts) {
    if (part.path_ns > 0) table.detail += fmt::format(" {} {},", part.name, percent_in_words(share(part.path_ns)));
  }
  table.detail.back() = '.';
  table.columns = {{.title = "what", .is_prose = true},
                   {"rank", true},
                   {"on the path", true, "of a step's time, mean over steps"},
                   {"share", true},
                   {"slack", true, "how much longer it alone may take without making the step longer"},
                   {"steps on it", true, "steps in which some of it lies on the path"}};
  const auto add = [&](const std::vector<analyzer::PathShare>& shares, bool code) {
    for (std::size_t i = 0; i < std::min(most, shares.size()); ++i) {
      const analyzer::PathShare& one = shares[i];
      table.rows.push_back({code ? code_cell(one.name) : text_cell(one.name),
                            one.rank < 0 ? text_cell("all", CellTone::kFaint) : count_cell(one.rank),
                            value_cell(one.path_ns, time_in_words(one.path_ns)),
                            value_cell(share(one.path_ns), percent_in_words(share(one.path_ns)), CellTone::kStrong),
                            value_cell(one.slack_ns, time_in_words(one.slack_ns)),
                            value_cell(one.steps_on_path, percent_in_words(one.steps_on_path))});
    }
  };
  add(path.ranks, false);
  add(path.collectives, false);
  add(path.operators, true);
  return table;
}

std::vector<std::string> advice_remarks(const analyzer::AdviceReport& report) {
  std::vector<std::string> remarks;
  for (const analyzer::Advice& advice : report.advice) {
    if (!advice.assumption.empty()) remarks.push_back(advice.change + ": " + advice.assumption);
  }
  if (!report.buckets.empty()) remarks.push_back(bucket_sizes_in_words(report));
  for (const std::string& change : report.no_gain) remarks.push_back("no gain: " + change);
  for (const std::string& change : report.not_known) remarks.push_back("not known: " + change);
  remarks.insert(remarks.end(), report.notes.begin(), report.notes.end());
  return remarks;
}

}  // namespace ddbench::reports
