#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/run/caveats.h"
#include "core/run_case/learning_rate.h"
#include "core/run_case/program_case.h"
#include "core/text/quantity.h"
#include "reports/tables/end_of_steps.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;

std::string time_interval_in_words(const Measured<ConfidenceInterval>& interval) {
  if (!interval) return "no interval: " + interval.reason();
  return fmt::format("{:.0f}% CI {} to {}, {}", 100 * interval->level, time_in_words(interval->low),
                     time_in_words(interval->high), interval->method);
}

/// For percentages that may be negative.
std::string percents_in_words(const ConfidenceInterval& interval) {
  return fmt::format("{:.0f}% CI {:+.2f} to {:+.2f}%, {}", 100 * interval.level, interval.low, interval.high, interval.method);
}

void add_measure(DataTable& table, const char* name, std::string value, std::string detail) {
  table.rows.push_back({text_cell(name), text_cell(std::move(value), CellTone::kStrong),
                        text_cell(std::move(detail), CellTone::kFaint)});
}

template <typename T>
void add_missing(DataTable& table, const char* name, const Measured<T>& measured) {
  table.rows.push_back({text_cell(name), text_cell("not known"), text_cell(measured.reason(), CellTone::kFaint)});
}

std::string skew_in_words(const RunSummary& summary) {
  const Measured<double>& skew_ns = summary.distribution->skew_ns;
  if (!skew_ns) return "; " + skew_ns.reason();
  return summary.run.run_case.world_size() > 1 ? "; ranks differ by " + time_in_words(*skew_ns) : "";
}

void add_distribution(const RunSummary& summary, DataTable& table) {
  if (!summary.distribution) return add_missing(table, "single steps", summary.distribution);
  const analyzer::StepDistribution& steps = *summary.distribution;
  add_measure(table, "single steps", "p50 " + time_in_words(steps.p50_ns),
              fmt::format("p95 {}, p99 {}, max {}{}", time_in_words(steps.p95_ns), time_in_words(steps.p99_ns),
                          time_in_words(steps.max_ns), skew_in_words(summary)));
  if (steps.outliers > 0)
    add_measure(table, "outliers", count_in_words(steps.outliers), outliers_in_words(steps));
}

void add_utilisation(const RunSummary& summary, DataTable& table) {
  const analyzer::Utilisation& used = summary.utilisation;
  const bool is_gpu = summary.run.run_case.on_gpus();
  const char* const device = is_gpu ? "GPU" : "core";
  if (used.tflops)
    add_measure(table, "model FLOP/s", number(*used.tflops, 3) + " TFLOP/s", fmt::format("of each {}, without recomputation", device));
  if (!used.mfu) return;
  add_measure(table, "MFU", percent_in_words(*used.mfu),
              fmt::format("of {} {}{} of {} TFLOP/s ({})", used.devices, device, used.devices == 1 ? "" : "s",
                          number(*used.peak_tflops), is_gpu ? "catalogue" : "measured GEMM"));
  if (used.hfu && *used.hfu != *used.mfu)
    add_measure(table, "HFU", percent_in_words(*used.hfu), "including recomputation in backward");
}

std::string bytes_in_words(std::int64_t bytes) {
  return quantity(static_cast<double>(bytes), "B");
}

std::string parts_in_words(const analyzer::DeviceMemory& memory) {
  std::string text;
  for (const auto& [name, bytes] : memory.parts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, bytes_in_words(bytes));
  return text;
}

/// The allocator's, then NVML's.
void add_device_memory(const RunSummary& summary, DataTable& table) {
  if (const auto memory = analyzer::device_memory_of(summary.run)) {
    std::string detail = fmt::format("peak of one rank's allocator: {}", parts_in_words(*memory));
    if (memory->predicted_bytes)
      detail += fmt::format("; predicted {} without workspace", bytes_in_words(*memory->predicted_bytes));
    if (memory->reserved_bytes > 0) detail += fmt::format("; {} kept by the driver", bytes_in_words(memory->reserved_bytes));
    if (memory->offloaded_bytes > 0) detail += fmt::format("; the optimizer's {} are in the host's memory", bytes_in_words(memory->offloaded_bytes));
    const bool on_host = summary.run.run_case.on_cpu();
    add_measure(table, on_host ? "tensor memory" : "GPU memory", bytes_in_words(memory->peak_bytes), std::move(detail));
  }
  for (const analyzer::GpuMemory& gpu : analyzer::gpu_memory_of(summary.run)) {
    if (gpu.peak_bytes == 0) continue;
    add_measure(table, "GPU memory, NVML", bytes_in_words(gpu.peak_bytes),
                fmt::format("peak of {}{}, of all of its users", gpu.gpu,
                            gpu.bytes > 0 ? " of " + bytes_in_words(gpu.bytes) : ""));
  }
}

/// What a program applied, as it was recorded in each step.
void add_recorded_rate(const RunSummary& summary, DataTable& table) {
  const auto& rates = summary.learning_rates;
  const auto [least, most] = std::minmax_element(rates.begin(), rates.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string detail = "recorded in each step";
  if (least->second < most->second) {
    detail += fmt::format(": {} in step {}, at most {} in step {}, at least {} in step {}", number(rates.front().second),
                          rates.front().first, number(most->second), most->first, number(least->second), least->first);
  }
  add_measure(table, "learning rate", number(rates.back().second), detail);
}

/// The learning rate that the reference engine applied is a function of its case.
void add_learning_rate(const RunSummary& summary, DataTable& table) {
  if (!summary.learning_rates.empty()) return add_recorded_rate(summary, table);
  if (!applies_learning_rate(summary)) return;
  const RunCase& run_case = summary.run.run_case;
  const double settled = settled_learning_rate(run_case);
  std::string detail = "as given";
  if (run_case.lr_rule != LearningRateRule::kNone) {
    detail = fmt::format("base {} × {} ({}: global batch {} / base batch {})", number(run_case.lr),
                         number(settled / run_case.lr), to_string(run_case.lr_rule), count_in_words(run_case.global_batch()),
                         count_in_words(run_case.base_batch));
  }
  if (run_case.lr_warmup > 0) {
    detail += fmt::format("; {} in step 0, reached in step {}", number(learning_rate(run_case, 0)),
                          run_case.lr_warmup - 1);
  }
  add_measure(table, "learning rate", number(settled), std::move(detail));
}

void add_communication(const RunSummary& summary, DataTable& table) {
  const auto time = [](std::int64_t value_ns) { return time_in_words(static_cast<double>(value_ns)); };
  if (summary.probed_steps > 0 && summary.run.run_case.world_size() > 1) {
    const auto& overlap_ns = summary.overlap_ns;
    const std::int64_t waited_ns = overlap_ns ? summary.communication_ns - *overlap_ns - *summary.exposed_communication_ns : 0;
    add_measure(table, "communication", time(summary.communication_ns),
                "a step: union of all collectives of a rank" + (waited_ns > 0 ? "; " + time(waited_ns) + " of it without a core" : ""));
    if (const auto& exposed_ns = summary.exposed_communication_ns) {
      add_measure(table, "exposed communication", time(*exposed_ns), "not hidden behind compute");
      const auto& interval = summary.overlap_interval;
      const double communication = static_cast<double>(std::max<std::int64_t>(summary.communication_ns, 1));
      add_measure(table, "overlap", time(*overlap_ns),
                  fmt::format("communication hidden behind compute ({} of it); ", percent_in_words(static_cast<double>(*overlap_ns) / communication)) +
                      time_interval_in_words(interval));
    } else {
      add_missing(table, "exposed communication", exposed_ns);
    }
  }
  const auto& waited = summary.cpu_wait_ns;
  if (!waited) add_missing(table, "CPU wait", waited);
  if (waited && *waited > 0) add_measure(table, "CPU wait", time(*waited), "a step: ready to run, without a core");
  if (const auto& slower = summary.compute_slowdown_percent) {
    add_measure(table, "slowdown", signed_percent(slower->value / 100),
                "of compute beside communication; " + percents_in_words(slower->interval));
  } else if (summary.run.run_case.world_size() > 1) {
    add_missing(table, "slowdown", slower);
  }
  if (const auto& wait = summary.peer_wait_ns) {
    const std::string uncertainty =
        summary.peer_wait_uncertainty_ns > 0
            ? "; the clocks leave it open by ±" + time(summary.peer_wait_uncertainty_ns)
            : "";
    add_measure(table, "peer wait", time(*wait),
                "per step; until the last rank arrived (exposed or hidden)" + uncertainty);
  } else {
    add_missing(table, "peer wait", wait);
  }
}

void add_probes(const RunSummary& summary, DataTable& table) {
  if (summary.run.provenance.has(Provenance::kImported)) return add_missing(table, "probes", summary.probe_overhead_percent);
  std::string counted = fmt::format("{} spans dropped", count_in_words(static_cast<std::int64_t>(summary.dropped_spans)));
  if (const auto& account = summary.probe_account_ns) counted = fmt::format("direct account {} a step; {}", time_in_words(*account), counted);
  if (const auto& cost = summary.probe_overhead_percent) {
    add_measure(table, "probes", analyzer::probe_cost_in_words(*cost),
                fmt::format("of a step, {}; {}", percents_in_words(cost->interval), counted));
  } else {
    const bool is_program = ddbench::is_program(summary.run.run_case);
    add_measure(table, "probes", "cost not measured",
                (is_program ? "the cost of profiling is not measured for user programs" : cost.reason()) + "; " + counted);
  }
}

}  // namespace

DataTable measures_data(const RunSummary& summary) {
  DataTable table{"Key figures", {}, {{"what"}, {"value"}, {.title = "how", .is_prose = true}}, {}, {}};
  if (const auto& step = summary.step_time_ns) {
    add_measure(table, "step time", time_in_words(step->value),
                time_interval_in_words(step->interval));
    add_distribution(summary, table);
  } else {
    add_missing(table, "step time", step);
  }
  if (const auto end = end_of_steps(summary))
    add_measure(table, "end of the run", end->by_margin ? "margin reached" : "--max-time",
                end_in_words(summary));
  const ThroughputInWords throughput = throughput_in_words(summary);
  add_measure(table, "throughput", throughput.value, throughput.detail);
  if (summary.efficiency && summary.efficiency->serial_fraction) {
    add_measure(table, "serial fraction", number(*summary.efficiency->serial_fraction),
                "Karp-Flatt, strong scaling");
  }
  add_utilisation(summary, table);
  add_communication(summary, table);
  if (const auto traffic = analyzer::gradient_traffic(summary)) {
    const std::string wire = traffic->wire_bytes ? "; " + quantity(*traffic->wire_bytes, "B") + " on the wire, with headers, start-up and shutdown" : "";
    add_measure(table, "gradient traffic", quantity(traffic->theory_bytes, "B"),
                fmt::format("per rank and step: {}, of n ranks and S bytes of gradients{}", traffic->formula, wire));
  }
  if (summary.loss_first && summary.loss_last) {
    add_measure(table, "loss",
                fmt::format("{} → {}", number(*summary.loss_first, 4), number(*summary.loss_last, 4)),
                "first and last step, mean over ranks");
  } else {
    add_missing(table, "loss", summary.loss_first ? summary.loss_last : summary.loss_first);
  }
  add_learning_rate(summary, table);
  add_device_memory(summary, table);
  add_probes(summary, table);
  return table;
}

}  // namespace ddbench::reports
