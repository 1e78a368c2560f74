#include "reports/formats/prometheus/prometheus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/run_case/program_case.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;

constexpr double kNsPerSecond = 1e9;

/// A label's value: backslash, quote and line end are escaped, as are control characters (visible()).
std::string label_value(std::string_view text) {
  std::string value = "\"";
  for (const char c : visible(text)) {
    if (c == '\\' || c == '"') value += '\\';
    value += c;
  }
  return value + '"';
}

using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// The run that a sample is of.
struct Subject {
  Subject(const RunSummary& summary) : run(summary.run.id), name(summary.run.run_case.name) {}  // NOLINT: implicit, as most are
  explicit Subject(const LiveFigures& figures) : run(figures.run), name(figures.name) {}
  std::string_view run;
  std::string_view name;
};

std::string braces(const Subject& subject, const Labels& labels) {
  std::string text = fmt::format("{{run={},name={}", label_value(subject.run), label_value(subject.name));
  for (const auto& [key, value] : labels) text += fmt::format(",{}={}", key, label_value(value));
  return text + "}";
}

/// One metric of all runs: the samples of a family must be consecutive.
class Family {
 public:
  Family(std::string_view name, std::string_view help) : name_(name), help_(help) {}

  void add(const Subject& subject, double value, const Labels& labels = {}) {
    if (std::isfinite(value)) samples_ += fmt::format("{}{} {:.10g}\n", name_, braces(subject, labels), value);
  }
  template <typename Number>
  void add_measured(const RunSummary& summary, const Measured<Number>& value, double unit, const Labels& labels = {}) {
    if (value) add(summary, static_cast<double>(*value) / unit, labels);
  }
  std::string text() const {
    return samples_.empty() ? std::string() : fmt::format("# HELP {} {}\n# TYPE {} gauge\n{}", name_, help_, name_, samples_);
  }

 private:
  std::string_view name_;
  std::string_view help_;
  std::string samples_;
};

/// A family with the samples that `fill` adds for each run.
template <typename Fill>
std::string family(std::span<const RunSummary> runs, std::string_view name, std::string_view help, const Fill& fill) {
  Family family(name, help);
  for (const RunSummary& summary : runs) fill(family, summary);
  return family.text();
}

bool is_usable(const RunSummary& summary) {
  return summary.run.state == store::RunState::kDone && summary.run.valid;
}

/// As family, for finished and valid runs only.
template <typename Fill>
std::string figures(std::span<const RunSummary> runs, std::string_view name, std::string_view help, const Fill& fill) {
  return family(runs, name, help, [&](Family& to, const RunSummary& summary) {
    if (is_usable(summary)) fill(to, summary);
  });
}

Labels info_of(const store::RunRecord& run) {
  const RunCase& run_case = run.run_case;
  const bool placed = !run_case.nodes_not_stated;
  return {{"workload", work_in_words(run_case)},
          {"nodes", placed ? std::to_string(run_case.nodes) : ""},
          {"gpus_per_node", placed ? std::to_string(run_case.gpus_per_node) : ""},
          {"world_size", std::to_string(run_case.world_size())},
          {"state", std::string(store::to_string(run.state))},
          {"valid", run.valid ? "1" : "0"},
          {"provenance", provenance_in_words(run.provenance)},
          {"sweep", run.sweep_id},
          {"strategy", is_training(run_case) ? run_case.strategy : ""},
          {"precision", is_training(run_case) ? run_case.precision : ""},
          {"network", run.environment.network},
          {"sku", run_case.sku}};
}

std::string step_times(std::span<const RunSummary> runs) {
  std::string text = figures(runs, "ddbench_step_time_seconds", "Elapsed time of the measured steps over their number.",
                             [](Family& to, const RunSummary& summary) {
                               if (summary.step_time_ns) to.add(summary, summary.step_time_ns->value / kNsPerSecond);
                             });
  text += figures(runs, "ddbench_step_time_interval_seconds", "Bounds of the 95% interval of the step time, for autocorrelated steps of this run.",
                  [](Family& to, const RunSummary& summary) {
                    if (!summary.step_time_ns || !summary.step_time_ns->interval) return;
                    const ConfidenceInterval& interval = *summary.step_time_ns->interval;
                    to.add(summary, interval.low / kNsPerSecond, {{"bound", "low"}});
                    to.add(summary, interval.high / kNsPerSecond, {{"bound", "high"}});
                  });
  text += figures(runs, "ddbench_step_time_quantile_seconds", "Quantiles of the times of single steps.",
                  [](Family& to, const RunSummary& summary) {
                    if (!summary.distribution) return;
                    const analyzer::StepDistribution& steps = *summary.distribution;
                    for (const auto& [quantile, ns] : {std::pair("0.5", steps.p50_ns), std::pair("0.95", steps.p95_ns),
                                                       std::pair("0.99", steps.p99_ns), std::pair("1", steps.max_ns)})
                      to.add(summary, ns / kNsPerSecond, {{"quantile", quantile}});
                  });
  return text;
}

std::string parts(std::span<const RunSummary> runs) {
  return figures(runs, "ddbench_step_part_seconds", "Where the time of a step goes; the parts sum to the step.",
                 [](Family& to, const RunSummary& summary) {
                   if (summary.probed_steps == 0) return;
                   for (int part = 0; part < store::kStepPartCount; ++part) {
                     const auto each = static_cast<store::StepPart>(part);
                     if (each == store::StepPart::kCpuWait && !summary.cpu_wait_ns) continue;
                     to.add(summary, static_cast<double>(summary.partition[each]) / kNsPerSecond,
                            {{"part", std::string(store::to_string(each))}});
                   }
                 });
}

std::string communication(std::span<const RunSummary> runs) {
  const auto time = [&](std::string_view name, std::string_view help, Measured<std::int64_t> RunSummary::*member) {
    return figures(runs, name, help, [&](Family& to, const RunSummary& summary) {
      to.add_measured(summary, summary.*member, kNsPerSecond);
    });
  };
  return time("ddbench_exposed_communication_seconds", "Communication of a step that compute did not hide.",
              &RunSummary::exposed_communication_ns) +
         time("ddbench_overlap_seconds", "Communication of a step that compute hid.", &RunSummary::overlap_ns) +
         time("ddbench_peer_wait_seconds", "Waiting for the last rank in all collectives of a step.", &RunSummary::peer_wait_ns);
}

std::string collectives(std::span<const RunSummary> runs) {
  return figures(runs, "ddbench_collective_busbw_bytes_per_second", "Bus bandwidth of a collective, as nccl-tests define it.",
                 [](Family& to, const RunSummary& summary) {
                   for (const analyzer::CollectiveSummary& collective : summary.collectives) {
                     const store::CollectiveRecord& record = collective.record;
                     to.add_measured(summary, collective.busbw_gb_per_s, 1e-9,
                                     {{"function", record.function},
                                      {"bucket", record.bucket < 0 ? "" : std::to_string(record.bucket)},
                                      {"bytes", std::to_string(record.bytes)},
                                      {"communicator", communicator_in_words(collective.communicator)}});
                   }
                 });
}

}  // namespace

std::string runs_prometheus(std::span<const RunSummary> runs) {
  std::string text = family(runs, "ddbench_run_info", "What the run was: 1 for each run, its case as labels.",
                            [](Family& to, const RunSummary& summary) { to.add(summary, 1, info_of(summary.run)); });
  text += step_times(runs);
  text += figures(runs, "ddbench_throughput_samples_per_second", "Samples of the measured steps over their elapsed time.",
                  [](Family& to, const RunSummary& summary) { to.add_measured(summary, summary.samples_per_s, 1); });
  text += figures(runs, "ddbench_efficiency_ratio", "Efficiency against the run's baseline.",
                  [](Family& to, const RunSummary& summary) {
                    if (summary.efficiency) to.add(summary, summary.efficiency->value);
                  });
  text += parts(runs) + communication(runs) + collectives(runs);
  text += figures(runs, "ddbench_loss", "Mean loss over ranks at the last step.",
                  [](Family& to, const RunSummary& summary) { to.add_measured(summary, summary.loss_last, 1); });
  text += figures(runs, "ddbench_peak_memory_bytes", "Largest host memory of a rank.", [](Family& to, const RunSummary& summary) {
    std::int64_t peak_bytes = 0;
    for (const store::RankRecord& rank : summary.ranks) peak_bytes = std::max(peak_bytes, rank.peak_memory_bytes);
    if (peak_bytes > 0) to.add(summary, static_cast<double>(peak_bytes));
  });
  text += figures(runs, "ddbench_device_peak_memory_bytes", "Largest memory that a rank's device allocator gave out, or of a GPU by NVML.",
                  [](Family& to, const RunSummary& summary) { to.add_measured(summary, analyzer::device_peak_bytes(summary.run), 1); });
  return text;
}

std::string live_prometheus(const LiveFigures& figures) {
  const auto one = [&](std::string_view name, std::string_view help, std::optional<double> value, const Labels& labels = {}) {
    Family family(name, help);
    if (value) family.add(Subject(figures), *value, labels);
    return family.text();
  };
  return one("ddbench_live_steps", "Steps that all ranks have completed, warm-up included.", static_cast<double>(figures.steps)) +
         one("ddbench_live_steps_per_second", "Rate of steps over the last seconds.", figures.steps_per_s) +
         one("ddbench_live_communication_ratio", "Share of the time in which a rank is in a collective, mean over ranks.",
             figures.communication_share) +
         one("ddbench_live_verdict", "1 while a rank is named that holds the others up, or ranks hang; who is a label.",
             figures.verdict.empty() ? 0.0 : 1.0, {{"verdict", figures.verdict}}) +
         one("ddbench_live_updated_seconds", "When this was written, in seconds since 1970.", figures.updated_s);
}

}  // namespace ddbench::reports
