#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/text/quantity.h"
#include "reports/tables/end_of_steps.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"
#include "reports/text/shown_parts.h"

namespace ddbench::reports {
namespace {

using analyzer::CollectiveSummary;
using analyzer::RunSummary;
using store::StepPart;

std::vector<std::int64_t> values_of(const store::StepPartition& partition) {
  return {partition.ns.begin(), partition.ns.end()};
}

std::string interval_in_words(const ConfidenceInterval& interval, std::string_view unit) {
  return fmt::format("{:.0f}% CI {} to {}, {}", 100 * interval.level, quantity(interval.low, unit),
                     quantity(interval.high, unit), interval.method);
}

void add_measure(DataTable& table, const char* name, std::string value, std::string detail) {
  table.rows.push_back({text_cell(name), text_cell(std::move(value), CellTone::kStrong),
                        text_cell(std::move(detail), CellTone::kFaint)});
}

template <typename T>
void add_missing(DataTable& table, const char* name, const Measured<T>& measured) {
  table.rows.push_back(
      {text_cell(name), missing_cell(measured.reason()), text_cell(measured.reason(), CellTone::kFaint)});
}

DataCell measured_time_cell(const Measured<std::int64_t>& time_ns) {
  return time_ns ? time_cell(static_cast<double>(*time_ns)) : missing_cell(time_ns.reason());
}

DataCell bandwidth_cell(const Measured<double>& gb_per_s) {
  if (!gb_per_s) return missing_cell(gb_per_s.reason());
  return value_cell(*gb_per_s, quantity(1e9 * *gb_per_s, "B/s"));
}

/// JSON of a field without quotes around texts.
std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string clock_in_words(const ClockMap& clock) {
  if (clock.shared_clock) return "shared";
  return "±" + time_in_words(static_cast<double>(clock.uncertainty_ns()));
}

/// Two more columns of the partition: the bars of the waterfall.
void add_losses(const analyzer::Efficiency& efficiency, const TimeScale& scale, DataTable& table) {
  table.columns.push_back({"lost", true, "this run's part minus the ideal one; the bars of the waterfall"});
  table.columns.push_back({"of the loss", true});
  table.columns.push_back({"95% CI of the loss", true});
  const auto& intervals = efficiency.loss_intervals;
  const auto interval_cell = [&](const ConfidenceInterval& interval) {
    return text_cell(fmt::format("{} to {}", scale.show_one(std::llround(interval.low), true),
                                 scale.show_one(std::llround(interval.high), true)),
                     CellTone::kFaint);
  };
  const std::vector<std::int64_t> lost = values_of(efficiency.waterfall);
  const bool is_loss = efficiency.lost_ns > 0;
  const std::vector<std::string> times = scale.show(lost, true);
  const std::vector<std::string> shares =
      is_loss ? shown_percents(lost, efficiency.lost_ns) : std::vector<std::string>(lost.size(), "–");
  for (std::size_t i = 0; i < lost.size(); ++i) {
    table.rows[i].push_back(value_cell(static_cast<double>(lost[i]), times[i]));
    table.rows[i].push_back(value_cell(static_cast<double>(lost[i]), shares[i]));
    table.rows[i].push_back(intervals ? interval_cell(intervals->parts[i])
                                      : missing_cell(intervals.reason()));
  }
  table.total->push_back(text_cell(scale.show_one(efficiency.lost_ns, true), CellTone::kStrong));
  table.total->push_back(text_cell(is_loss ? "100.0%" : "–"));
  table.total->push_back(intervals ? interval_cell(intervals->lost) : missing_cell(intervals.reason()));
}

void add_distribution(const RunSummary& summary, DataTable& table) {
  const analyzer::StepDistribution& steps = *summary.distribution;
  add_measure(table, "single steps", "p50 " + time_in_words(steps.p50_ns),
              fmt::format("p95 {}, p99 {}, max {}", time_in_words(steps.p95_ns), time_in_words(steps.p99_ns),
                          time_in_words(steps.max_ns)));
  if (summary.run.run_case.world_size() > 1)
    add_measure(table, "skew between ranks", time_in_words(steps.skew_ns),
                "slowest rank's duration minus the fastest's, mean over steps");
  if (steps.outliers > 0)
    add_measure(table, "outlier steps", std::to_string(steps.outliers), outliers_in_words(steps));
}

void add_communication(const RunSummary& summary, DataTable& table) {
  const auto time = [](std::int64_t value_ns) { return time_in_words(static_cast<double>(value_ns)); };
  if (summary.probed_steps > 0 && summary.run.run_case.world_size() > 1) {
    add_measure(table, "communication", time(summary.communication_ns),
                "a step: union of all collectives of a rank");
    if (const auto& exposed_ns = summary.exposed_communication_ns) {
      add_measure(table, "exposed communication", time(*exposed_ns), "not hidden behind compute");
      const auto& interval = summary.overlap_interval;
      add_measure(table, "overlap", time(*summary.overlap_ns),
                  "communication behind compute; " +
                      (interval ? interval_in_words(*interval, "ns") : interval.reason()));
    } else {
      add_missing(table, "exposed communication", exposed_ns);
    }
  }
  if (const auto& waited = summary.cpu_wait_ns) {
    add_measure(table, "CPU wait", time(*waited), "a step: ready to run, without a core");
  } else {
    add_missing(table, "CPU wait", waited);
  }
  if (const auto& slower = summary.compute_slowdown_percent) {
    add_measure(table, "compute beside communication", fmt::format("{:+.1f}%", slower->value),
                "longer than without; " + interval_in_words(slower->interval, "%"));
  } else {
    add_missing(table, "compute beside communication", slower);
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

}  // namespace

DataTable partition_data(const RunSummary& summary) {
  const std::int64_t total_ns = summary.partition.total_ns();
  DataTable table;
  table.caption = "Where a step goes";
  table.detail =
      fmt::format("mean over {} rank{} and {} of {} measured steps (probes on); the parts sum to the step",
                  summary.ranks.size(), summary.ranks.size() == 1 ? "" : "s",
                  count_in_words(summary.probed_steps), count_in_words(summary.measured_steps));
  table.columns = {{"part"}, {"time", true}, {"of the step", true}};
  if (total_ns <= 0) return table;
  const std::vector<std::int64_t> parts = values_of(summary.partition);
  const TimeScale scale(total_ns);
  const std::vector<std::string> times = scale.show(parts, false);
  const std::vector<std::string> shares = shown_percents(parts, total_ns);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    table.rows.push_back({text_cell(part_in_words(static_cast<StepPart>(i))),
                          value_cell(static_cast<double>(parts[i]), times[i]),
                          value_cell(static_cast<double>(parts[i]), shares[i])});
  }
  table.total = {text_cell("step time", CellTone::kStrong),
                 text_cell(scale.show_one(total_ns, false), CellTone::kStrong), text_cell("100.0%")};
  if (summary.efficiency) add_losses(*summary.efficiency, scale, table);
  return table;
}

DataTable measures_data(const RunSummary& summary) {
  DataTable table{"Key figures", {}, {{"what"}, {"value", true}, {"how"}}, {}, {}};
  if (const auto& step = summary.step_time_ns) {
    add_measure(table, "step time", time_in_words(step->value),
                step->interval ? interval_in_words(*step->interval, "ns") : step->interval.reason());
    add_distribution(summary, table);
  } else {
    add_missing(table, "step time", step);
  }
  if (const auto end = end_of_steps(summary))
    add_measure(table, "end of the run", end->by_margin ? "margin reached" : "--max-time",
                end_in_words(summary));
  if (const auto& rate = summary.samples_per_s) {
    add_measure(table, "throughput", number(*rate, 4) + " samples/s",
                "samples of the measured steps over their elapsed time");
  } else if (summary.step_time_ns) {
    add_measure(table, "throughput", throughput_in_words(summary).value, rate.reason());
  } else {
    add_missing(table, "throughput", rate);
  }
  if (summary.efficiency && summary.efficiency->serial_fraction) {
    add_measure(table, "serial fraction", number(*summary.efficiency->serial_fraction),
                "Karp-Flatt, strong scaling");
  }
  add_communication(summary, table);
  if (summary.loss_first && summary.loss_last) {
    add_measure(table, "loss",
                fmt::format("{} → {}", number(*summary.loss_first, 4), number(*summary.loss_last, 4)),
                "first and last step, mean over ranks");
  } else {
    add_missing(table, "loss", summary.loss_first ? summary.loss_last : summary.loss_first);
  }
  if (const auto& cost = summary.probe_overhead_percent) {
    add_measure(table, "cost of the probes",
                fmt::format("at most {:.1f}%", std::max(0.0, cost->interval.high)),
                interval_in_words(cost->interval, "%"));
  } else {
    add_missing(table, "cost of the probes", cost);
  }
  if (const auto& account = summary.probe_account_ns) {
    add_measure(table, "cost of the probes, direct account", time_in_words(*account),
                "a step: spans, drain thread, readings of run-queue delay");
  }
  add_measure(table, "dropped spans", count_in_words(static_cast<std::int64_t>(summary.dropped_spans)),
              "rings that were full");
  return table;
}

DataTable collectives_data(const RunSummary& summary) {
  DataTable table;
  table.caption = "Collectives";
  table.detail = "medians over the measured steps; bus bandwidth as nccl-tests count it, 1 GB = 1e9 B";
  table.columns = {{"function"},
                   {"bucket", true},
                   {"size", true},
                   {"count", true},
                   {"duration", true, "own arrival to end, median over ranks"},
                   {"transfer", true, "last arrival to last end"},
                   {"peer wait", true, "own arrival to last arrival"},
                   {"algbw", true},
                   {"busbw", true}};
  if (std::any_of(summary.collectives.begin(), summary.collectives.end(), analyzer::leaves_before_its_end))
    table.detail += "; a duration is shorter than the transfer where most ranks leave before the last one ends";
  const bool manners = analyzer::tells_manners(summary);
  if (manners)
    table.columns.push_back({"manner", false, "algorithm, protocol, channels and transport, as NCCL told"});
  const bool communicators = analyzer::names_communicators(summary);
  if (communicators)
    table.columns.insert(table.columns.begin() + 1,
                         {"communicator", false, "the ranks that did it together"});
  for (const CollectiveSummary& collective : summary.collectives) {
    const store::CollectiveRecord& record = collective.record;
    table.rows.push_back(
        {code_cell(record.function),
         record.bucket < 0 ? missing_cell("not a gradient bucket") : count_cell(record.bucket),
         has_known_size(record)
             ? value_cell(static_cast<double>(record.bytes), quantity(static_cast<double>(record.bytes), "B"))
             : missing_cell("what recorded it does not say"),
         count_cell(static_cast<std::int64_t>(record.count)),
         time_cell(static_cast<double>(record.duration_ns)),
         measured_time_cell(collective.transfer_ns), measured_time_cell(collective.peer_wait_ns),
         bandwidth_cell(collective.algbw_gb_per_s), bandwidth_cell(collective.busbw_gb_per_s)});
    std::vector<DataCell>& row = table.rows.back();
    if (manners)
      row.push_back(record.manner.empty() ? missing_cell("not reported by NCCL") : text_cell(record.manner));
    if (communicators) row.insert(row.begin() + 1, text_cell(communicator_in_words(collective.communicator)));
  }
  return table;
}

DataTable ranks_data(const RunSummary& summary) {
  DataTable table;
  table.caption = "Ranks";
  table.columns = {{"rank", true},
                   {"node", true},
                   {"host"},
                   {"cores"},
                   {"pid", true},
                   {"peak memory", true},
                   {"clock", false, "uncertainty against the run's clock"},
                   {"dropped spans", true},
                   {"parameters", false, "hash after the last step: replicas that agree have equal ones"},
                   {"outcome"}};
  for (const store::RankRecord& rank : summary.ranks) {
    const bool ok = rank.outcome == "ok" || rank.outcome.empty();
    table.rows.push_back(
        {count_cell(rank.rank), count_cell(rank.node), code_cell(rank.host),
         rank.cores.empty() ? missing_cell("not pinned") : text_cell(rank.cores),
         value_cell(static_cast<double>(rank.pid), std::to_string(rank.pid)),
         rank.peak_memory_bytes <= 0 ? missing_cell("not reported")
                                     : value_cell(static_cast<double>(rank.peak_memory_bytes),
                                                  quantity(static_cast<double>(rank.peak_memory_bytes), "B")),
         text_cell(clock_in_words(rank.clock)), count_cell(static_cast<std::int64_t>(rank.dropped_spans)),
         rank.parameter_hash.empty() ? missing_cell("not reported") : code_cell(rank.parameter_hash),
         text_cell(rank.outcome.empty() ? "–" : rank.outcome, ok ? CellTone::kPlain : CellTone::kBad)});
  }
  return table;
}

DataTable case_data(const store::RunRecord& run) {
  DataTable table{
      "Case", "what defines the run: runs of one case are repetitions", {{"field"}, {"value"}}, {}, {}};
  const nlohmann::ordered_json fields = nlohmann::ordered_json::parse(to_json(run.run_case));
  for (const auto& [key, value] : fields.items()) {
    if (value.is_object()) {
      for (const auto& [name, entry] : value.items())
        table.rows.push_back({code_cell(key + "." + name), code_cell(plain(entry))});
    } else {
      table.rows.push_back({code_cell(key), code_cell(plain(value))});
    }
  }
  return table;
}

DataTable environment_data(const store::RunRecord& run) {
  DataTable table{"Environment", "detected environment", {{"what"}, {"value"}}, {}, {}};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({code_cell(name), code_cell(value)});
  };
  add("network", run.environment.network);
  add("fingerprint", run.environment.fingerprint);
  for (const auto& [name, value] : run.environment.facts) add(name, value);
  return table;
}

}  // namespace ddbench::reports
