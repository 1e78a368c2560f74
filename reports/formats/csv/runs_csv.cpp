#include <fmt/format.h>

#include <algorithm>

#include "analyzer/run/run_fields.h"
#include "core/run_case/program_case.h"
#include "reports/formats/csv/csv.h"
#include "reports/formats/csv/fields.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;

/// Joins fields of one row.
class Row {
 public:
  void add(std::string_view field) {
    if (!text_.empty() || any_) text_ += ',';
    text_ += field;
    any_ = true;
  }
  void add_text(std::string_view text) { add(csv_field(text)); }
  void add_number(std::int64_t number) { add(std::to_string(number)); }
  /// Begins with its own comma.
  void append(const std::string& fields) { text_ += fields; }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
  bool any_ = false;
};

constexpr const char* kRunColumns =
    "run_id,name,sweep_id,state,valid,reason,provenance,started,finished,repetition,is_baseline,baseline_id";
constexpr const char* kCaseColumns =
    ",workload,nodes,gpus_per_node,world_size,scaling,batch_per_gpu,global_batch,precision,strategy,device,"
    "backend,"
    "optimizer,lr,seed,bucket_bytes,link,sku,network,fingerprint,tags";
constexpr const char* kFigureColumns =
    ",measured_steps,probed_steps,step_time_ns,step_time_ci_low_ns,step_time_ci_high_ns,step_time_ci_method,"
    "step_p50_ns,step_p95_ns,step_p99_ns,step_max_ns,rank_skew_ns,samples_per_s,"
    "speedup,efficiency,efficiency_ci_low,efficiency_ci_high,efficiency_ci_method,serial_fraction,lost_ns,"
    "partition_step_ns";
constexpr const char* kLastColumns =
    ",communication_ns,exposed_communication_ns,overlap_ns,peer_wait_ns,loss_first,loss_last,peak_memory_"
    "bytes,device_peak_memory_bytes,dropped_spans,"
    "probe_overhead_percent,missing";

std::string tags_in_words(const std::map<std::string, std::string>& tags) {
  std::string words;
  for (const auto& [key, value] : tags) words += (words.empty() ? "" : "; ") + key + "=" + value;
  return words;
}

void add_run(const store::RunRecord& run, Row& row) {
  row.add_text(run.id);
  row.add_text(run.run_case.name);
  row.add_text(run.sweep_id);
  row.add(store::to_string(run.state));
  row.add(run.valid ? "1" : "0");
  row.add_text(run.valid ? run.reason : run.invalid_reason);
  row.add_text(provenance_in_words(run.provenance));
  row.add(csv::utc(run.started_wall_ns));
  row.add(csv::utc(run.finished_wall_ns));
  row.add_number(run.repetition);
  row.add(run.is_baseline ? "1" : "0");
  row.add_text(run.baseline_id);
}

void add_case(const store::RunRecord& run, Row& row) {
  const RunCase& run_case = run.run_case;
  row.add_text(work_name(run_case.work));
  row.add(run_case.nodes_not_stated ? "" : std::to_string(run_case.nodes));
  row.add(run_case.nodes_not_stated ? "" : std::to_string(run_case.gpus_per_node));
  row.add_number(run_case.world_size());
  row.add(has_known_batch(run_case) ? to_string(run_case.scaling) : "");
  row.add(has_known_batch(run_case) ? std::to_string(run_case.batch_per_gpu) : "");
  row.add(has_known_batch(run_case) ? std::to_string(run_case.global_batch()) : "");
  const auto known = [&](const char* field) { return analyzer::has_meaning(run_case, run.provenance, field); };
  row.add_text(known("precision") ? run_case.precision : "");
  row.add_text(known("strategy") ? run_case.strategy : "");
  row.add_text(run_case.device);
  row.add_text(run_case.backend);
  row.add_text(known("optimizer") ? run_case.optimizer : "");
  row.add(known("lr") ? csv::real(run_case.lr) : "");
  row.add(known("seed") ? std::to_string(run_case.seed) : "");
  row.add(known("bucket_bytes") ? std::to_string(run_case.bucket_bytes) : "");
  row.add_text(run_case.link);
  row.add_text(run_case.sku);
  row.add_text(run.environment.network);
  row.add_text(run.environment.fingerprint);
  row.add_text(tags_in_words(run_case.tags));
}

/// Low, high, method.
void add_interval(const Measured<ConfidenceInterval>& interval, Row& row) {
  row.add(interval ? csv::real(interval->low) : "");
  row.add(interval ? csv::real(interval->high) : "");
  row.add_text(interval ? interval->method : "");
}

void add_figures(const RunSummary& summary, Row& row) {
  row.add_number(summary.measured_steps);
  row.add_number(summary.probed_steps);
  if (const auto& step = summary.step_time_ns) {
    row.add(csv::real(step->value));
    add_interval(step->interval, row);
  } else {
    row.append(",,,,");
  }
  if (const auto& steps = summary.distribution) {
    for (const double value : {steps->p50_ns, steps->p95_ns, steps->p99_ns, steps->max_ns}) row.add(csv::real(value));
    row.add(csv::real(steps->skew_ns));
  } else {
    row.append(",,,,,");
  }
  row.add(csv::real(summary.samples_per_s));
  if (const auto& efficiency = summary.efficiency) {
    row.add(csv::real(efficiency->speedup));
    row.add(csv::real(efficiency->value));
    add_interval(efficiency->interval, row);
    row.add(csv::real(efficiency->serial_fraction));
    row.add_number(efficiency->lost_ns);
  } else {
    row.append(",,,,,,,");
  }
  const bool probed = summary.probed_steps > 0;
  row.add(probed ? std::to_string(summary.partition.total_ns()) : "");
  row.append(probed ? csv::partition_values(summary.partition) : csv::empty_partition());
}

std::string missing_reasons(const RunSummary& summary) {
  std::string reasons;
  const auto note = [&](const char* column, const auto& measured) {
    if (!measured) reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", column, measured.reason());
  };
  note("step_time_ns", summary.step_time_ns);
  if (summary.step_time_ns) note("step_p50_ns", summary.distribution);
  if (summary.distribution) note("rank_skew_ns", summary.distribution->skew_ns);
  note("samples_per_s", summary.samples_per_s);
  note("efficiency", summary.efficiency);
  if (summary.efficiency) note("efficiency_ci", summary.efficiency->interval);
  if (summary.efficiency) note("serial_fraction", summary.efficiency->serial_fraction);
  if (summary.step_time_ns) note("step_time_ci", summary.step_time_ns->interval);
  note("exposed_communication_ns", summary.exposed_communication_ns);
  note("peer_wait_ns", summary.peer_wait_ns);
  note("loss_first", summary.loss_first);
  note("loss_last", summary.loss_last);
  note("probe_overhead_percent", summary.probe_overhead_percent);
  return reasons;
}

void add_last(const RunSummary& summary, Row& row) {
  row.add(summary.probed_steps > 0 ? std::to_string(summary.communication_ns) : "");
  for (const auto& time_ns : {summary.exposed_communication_ns, summary.overlap_ns}) {
    row.add(time_ns ? std::to_string(*time_ns) : "");
  }
  row.add(summary.peer_wait_ns ? std::to_string(*summary.peer_wait_ns) : "");
  row.add(csv::real(summary.loss_first));
  row.add(csv::real(summary.loss_last));
  std::int64_t peak_bytes = 0;
  for (const store::RankRecord& rank : summary.ranks)
    peak_bytes = std::max(peak_bytes, rank.peak_memory_bytes);
  row.add(peak_bytes > 0 ? std::to_string(peak_bytes) : "");
  const auto device = analyzer::device_peak_bytes(summary.run);
  row.add(device ? std::to_string(static_cast<std::int64_t>(*device)) : "");
  row.add(std::to_string(summary.dropped_spans));
  row.add(summary.probe_overhead_percent ? csv::real(summary.probe_overhead_percent->value) : "");
  row.add_text(missing_reasons(summary));
}

}  // namespace

std::string runs_csv(std::span<const RunSummary> runs) {
  std::string text = fmt::format("{}{}{}{}{}\n", kRunColumns, kCaseColumns, kFigureColumns,
                                 csv::partition_names(), kLastColumns);
  for (const RunSummary& summary : runs) {
    Row row;
    add_run(summary.run, row);
    add_case(summary.run, row);
    add_figures(summary, row);
    add_last(summary, row);
    text += row.take();
  }
  return text;
}

std::string collectives_csv(std::span<const RunSummary> runs) {
  std::string text =
      "run_id,function,bucket,bytes,count,duration_ns,transfer_ns,peer_wait_ns,algbw_bytes_per_s,busbw_bytes_"
      "per_s,manner,communicator_ranks,communicator\n";
  for (const RunSummary& summary : runs) {
    for (const analyzer::CollectiveSummary& collective : summary.collectives) {
      const store::CollectiveRecord& record = collective.record;
      Row row;
      row.add_text(summary.run.id);
      row.add_text(record.function);
      row.add(record.bucket < 0 ? "" : std::to_string(record.bucket));
      row.add(std::to_string(record.bytes));
      row.add(std::to_string(record.count));
      row.add_number(record.duration_ns);
      row.add_number(record.transfer_ns);
      row.add(collective.peer_wait_ns ? std::to_string(*collective.peer_wait_ns) : "");
      for (const Measured<double>* rate : {&collective.algbw_gb_per_s, &collective.busbw_gb_per_s}) {
        row.add(*rate ? csv::real(1e9 * **rate) : "");
      }
      row.add_text(record.nccl_algorithm);
      row.add(record.communicator.ranks > 0 ? std::to_string(record.communicator.ranks) : "");
      row.add_text(collective.communicator);
      text += row.take();
    }
  }
  return text;
}

}  // namespace ddbench::reports
