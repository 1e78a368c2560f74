#include <map>
#include <string>

#include "analyzer/run/applied_rate.h"
#include "analyzer/run/run_fields.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/run_case/step_facts.h"
#include "reports/tables/end_of_steps.h"
#include "reports/formats/json/interval_json.h"
#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;

Json applied_rate(const store::RunRecord& run) {
  const Measured<double> rate = analyzer::applied_learning_rate(run);
  return rate ? Json(*rate) : Json(nullptr);
}

Json run_object(const store::RunRecord& run) {
  const RunCase& run_case = run.run_case;
  const auto of_case = [&](const char* field, const auto& value) {
    return analyzer::has_meaning(run_case, run.provenance, field) ? Json(value) : Json(nullptr);
  };
  return {{"id", run.id},
          {"name", run_case.name},
          {"state", std::string(store::to_string(run.state))},
          {"reason", run.reason},
          {"valid", run.valid},
          {"invalid_reason", run.invalid_reason},
          {"workload", work_name(run_case.work)},
          {"workload_options", Json(work_options(run_case.work))},
          {"data", of_case("data", run_case.data)},
          {"nodes", placed_json(run_case, run_case.nodes)},
          {"gpus_per_node", placed_json(run_case, run_case.gpus_per_node)},
          {"world_size", run_case.world_size()},
          {"scaling", scaling_mode_json(run_case, run_case.scaling)},
          {"batch_per_gpu", samples_json(run_case, run_case.batch_per_gpu)},
          {"global_batch", samples_json(run_case, run_case.global_batch())},
          {"precision", of_case("precision", run_case.precision)},
          {"backend", run_case.backend},
          {"device", run_case.device},
          {"strategy", of_case("strategy", run_case.strategy)},
          {"optimizer", of_case("optimizer", run_case.optimizer)},
          {"lr", of_case("lr", run_case.lr)},
          {"applied_lr", applied_rate(run)},
          {"momentum", of_case("momentum", run_case.momentum)},
          {"seed", of_case("seed", run_case.seed)},
          {"first_bucket_bytes", of_case("first_bucket_bytes", run_case.first_bucket_bytes)},
          {"bucket_bytes", of_case("bucket_bytes", run_case.bucket_bytes)},
          {"link", run_case.link},
          {"sku", run_case.sku},
          {"tags", Json(run_case.tags)},
          {"provenance", names_json(run.provenance)},
          {"sweep_id", run.sweep_id},
          {"baseline_id", run.baseline_id},
          {"is_baseline", run.is_baseline},
          {"repetition", run.repetition},
          {"started", time_json(run.started_wall_ns)},
          {"finished", time_json(run.finished_wall_ns)}};
}

Json environment_object(const store::Environment& environment) {
  return {{"fingerprint", environment.fingerprint},
          {"network", environment.network},
          {"facts", Json(environment.facts)}};
}

Json memory_object(const RunSummary& summary, MissingReasons& missing) {
  const auto memory = analyzer::device_memory_of(summary.run);
  Json json = {{"device_peak_bytes", nullptr}, {"parts", Json::object()}, {"gpus", Json::array()}};
  if (memory) {
    json["device_peak_bytes"] = memory->peak_bytes;
    for (const auto& [name, bytes] : memory->parts) json["parts"][name] = bytes;
  } else {
    missing.null("memory.device_peak_bytes", memory.reason());
  }
  for (const analyzer::GpuMemory& gpu : analyzer::gpu_memory_of(summary.run))
    json["gpus"].push_back({{"gpu", gpu.gpu}, {"peak_bytes", gpu.peak_bytes}, {"bytes", gpu.bytes}});
  return json;
}

Json rank_objects(const RunSummary& summary) {
  Json ranks = Json::array();
  const auto device = analyzer::device_memory_of(summary.run);
  for (const store::RankRecord& rank : summary.ranks) {
    ranks.push_back({{"rank", rank.rank},
                     {"local_rank", rank.local_rank},
                     {"node", rank.node},
                     {"host", rank.host},
                     {"cores", rank.cores},
                     {"clock_uncertainty_ns", rank.clock.uncertainty_ns()},
                     {"dropped_spans", rank.dropped_spans},
                     {"peak_memory_bytes", rank.peak_memory_bytes},
                     {"device_peak_memory_bytes", device ? device->of_rank(static_cast<std::size_t>(rank.rank)) : 0},
                     {"parameter_hash", rank.parameter_hash},
                     {"outcome", rank.outcome}});
  }
  return ranks;
}

Json collective_objects(const RunSummary& summary, MissingReasons& missing) {
  Json collectives = Json::array();
  for (const analyzer::CollectiveSummary& collective : summary.collectives) {
    const store::CollectiveRecord& record = collective.record;
    const std::string path = "collectives." + std::to_string(collectives.size()) + ".";
    collectives.push_back({{"function", record.function},
                           {"bucket", record.bucket < 0 ? Json(nullptr) : Json(record.bucket)},
                           {"bytes", record.bytes},
                           {"count", record.count},
                           {"time_ns", record.transfer_ns},
                           {"duration_ns", record.duration_ns},
                           {"peer_wait_ns", missing.value(path + "peer_wait_ns", collective.peer_wait_ns)},
                           {"peer_wait_uncertainty_ns", record.peer_wait_uncertainty_ns},
                           {"time_uncertainty_ns", record.transfer_uncertainty_ns},
                           {"algbw", missing.value(path + "algbw", collective.algbw_gb_per_s)},
                           {"busbw", missing.value(path + "busbw", collective.busbw_gb_per_s)},
                           {"manner", record.nccl_algorithm},
                           {"communicator_ranks",
                            record.communicator.ranks > 0
                                ? Json(record.communicator.ranks)
                                : missing.null(path + "communicator_ranks", "the size of the communicator is not known")},
                           {"communicator", collective.communicator}});
  }
  return collectives;
}

Json kernel_objects(const RunSummary& summary) {
  Json kernels = Json::array();
  for (const store::KernelRecord& kernel : summary.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"kind", kernel.kind},
                       {"count", kernel.count},
                       {"total_ns", kernel.total_ns},
                       {"max_ns", kernel.max_ns}});
  }
  return kernels;
}

void add_rate(const RunSummary& summary, MissingReasons& missing, Json& json) {
  json["step_time_ns"] = quantity_json(summary.step_time_ns, "step_time_ns", missing);
  json["samples_per_s"] = missing.value("samples_per_s", summary.samples_per_s);
  const auto interval =
      summary.samples_per_s && summary.step_time_ns
          ? analyzer::rate_interval(*summary.samples_per_step, summary.step_time_ns->interval)
          : Measured<ConfidenceInterval>::missing(summary.samples_per_s ? summary.step_time_ns.reason() : summary.samples_per_s.reason());
  json["samples_per_s_ci"] = interval_json(interval, "samples_per_s_ci", missing);
  const analyzer::StepDistribution steps = summary.distribution.value_or({});
  Json distribution = {{"p50", steps.p50_ns},
                       {"p95", steps.p95_ns},
                       {"p99", steps.p99_ns},
                       {"max", steps.max_ns},
                       {"skew", missing.value("step_distribution_ns.skew", steps.skew_ns)}};
  Json outliers = {
      {"count", steps.outliers}, {"share", steps.outlier_share}, {"lost_share", steps.lost_share}};
  if (!summary.distribution) {
    missing.null("step_distribution_ns", summary.distribution.reason());
    distribution = nulls_like(std::move(distribution));
    outliers = nulls_like(std::move(outliers));
  }
  json["step_distribution_ns"] = std::move(distribution);
  json["outlier_steps"] = std::move(outliers);
  json["left_out_ns"] = summary.left_out_ns;
}

/// Means over probed steps: all null if there are none.
void add_partition(const RunSummary& summary, MissingReasons& missing, Json& json) {
  const bool known = summary.probed_steps > 0;
  const std::string reason = "no measured step with the probes on";
  const auto time = [&](const char* path, std::int64_t value_ns) {
    return known ? Json(value_ns) : missing.null(path, reason);
  };
  json["partition_step_ns"] = time("partition_step_ns", summary.partition.total_ns());
  const Json parts = partition_json(summary.partition);
  const Json compute = compute_json(summary.partition);
  if (!known) missing.null("partition_ns", reason);
  json["partition_ns"] = known ? parts : nulls_like(parts);
  json["compute_ns"] = known ? compute : nulls_like(compute);
  json["overlap_ns"] = missing.value("overlap_ns", summary.overlap_ns);
  json["overlap_ci_ns"] = interval_json(summary.overlap_interval, "overlap_ci_ns", missing);
  json["communication_ns"] = time("communication_ns", summary.communication_ns);
  json["exposed_communication_ns"] =
      missing.value("exposed_communication_ns", summary.exposed_communication_ns);
  json["cpu_wait_ns"] = missing.value("cpu_wait_ns", summary.cpu_wait_ns);
  json["compute_slowdown"] =
      estimate_json("percent", summary.compute_slowdown_percent, "compute_slowdown", missing);
  json["peer_wait_ns"] = missing.value("peer_wait_ns", summary.peer_wait_ns);
  json["peer_wait_uncertainty_ns"] = time("peer_wait_uncertainty_ns", summary.peer_wait_uncertainty_ns);
}

void add_efficiency(const RunSummary& summary, MissingReasons& missing, Json& json) {
  Json efficiency = {{"baseline", nullptr},      {"baseline_world_size", nullptr}, {"value", nullptr},
                     {"ci", nullptr},            {"speedup", nullptr},             {"speedup_ci", nullptr},
                     {"serial_fraction", nullptr}, {"lost_ns", nullptr},           {"ideal_step_ns", nullptr}};
  const analyzer::Efficiency known = summary.efficiency.value_or({});
  Json waterfall = partition_json(known.waterfall);
  Json waterfall_compute = compute_json(known.waterfall);
  if (summary.efficiency) {
    efficiency["baseline"] = known.baseline.id;
    efficiency["baseline_world_size"] = known.baseline.run_case.world_size();
    efficiency["value"] = known.value;
    efficiency["ci"] = interval_json(known.interval, "efficiency.ci", missing);
    efficiency["speedup"] = known.speedup;
    efficiency["speedup_ci"] = interval_json(known.speedup_interval, "efficiency.speedup_ci", missing);
    efficiency["serial_fraction"] = missing.value("efficiency.serial_fraction", known.serial_fraction);
    efficiency["lost_ns"] = known.lost_ns;
    efficiency["ideal_step_ns"] = summary.partition.total_ns() - known.lost_ns;
  } else {
    missing.null("efficiency", summary.efficiency.reason());
    missing.null("waterfall_ns", summary.efficiency.reason());
    waterfall = nulls_like(std::move(waterfall));
    waterfall_compute = nulls_like(std::move(waterfall_compute));
  }
  json["efficiency"] = std::move(efficiency);
  json["waterfall_ns"] = std::move(waterfall);
  json["waterfall_compute_ns"] = std::move(waterfall_compute);
  const auto intervals = summary.efficiency
                             ? known.loss_intervals
                             : Measured<analyzer::LossIntervals>::missing(summary.efficiency.reason());
  json["waterfall_ci_ns"] = loss_intervals_json(intervals, "waterfall_ci_ns", missing);
}

void add_probes(const RunSummary& summary, MissingReasons& missing, Json& json) {
  const auto& overhead = summary.probe_overhead_percent;
  json["probe_overhead_percent"] = overhead ? Json(overhead.value().value) : Json(nullptr);
  json["probe_overhead"] = estimate_json("percent", overhead, "probe_overhead_percent", missing);
  json["probe_account_ns"] = missing.value("probe_account_ns", summary.probe_account_ns);
  json["dropped_spans"] = summary.dropped_spans;
}

Json steps_object(const RunSummary& summary, MissingReasons& missing) {
  const RunCase& run_case = summary.run.run_case;
  const auto has_meaning = [&](const char* field) { return analyzer::has_meaning(run_case, summary.run.provenance, field); };
  Json json = {{"measured", summary.measured_steps},
               {"probed", summary.probed_steps},
               {"asked_for", run_case.ends_by_margin() ? Json("auto") : has_meaning("steps") ? Json(run_case.steps) : Json(nullptr)},
               {"warmup", has_meaning("warmup") ? Json(run_case.warmup) : Json(nullptr)},
               {"end", nullptr}};
  if (!run_case.ends_by_margin()) return json;
  const auto end = end_of_steps(summary);
  if (!end) {
    missing.null("steps.end", end.reason());
    return json;
  }
  json["end"] = {{"by", end->by_margin ? kEndedByMargin : kEndedByTime},
                 {"margin", end->goal},
                 {"max_time_s", run_case.max_time_s},
                 {"half_width", missing.value("steps.end.half_width", end->half_width)},
                 {"probe_half_width", missing.value("steps.end.probe_half_width", end->probe_half_width)},
                 {"waits_for_launcher", end->waits},
                 {"waits_for_launcher_ns", end->wait_ns}};
  return json;
}

}  // namespace

std::string run_json(const RunSummary& summary) {
  MissingReasons missing;
  Json json = {{"schema_version", kJsonSchemaVersion}, {"run", run_object(summary.run)}};
  json["steps"] = steps_object(summary, missing);
  add_rate(summary, missing, json);
  json["tflops_per_device"] = missing.value("tflops_per_device", summary.utilisation.tflops);
  json["mfu"] = missing.value("mfu", summary.utilisation.mfu);
  json["hfu"] = missing.value("hfu", summary.utilisation.hfu);
  json["loss"] = {{"first", missing.value("loss.first", summary.loss_first)},
                  {"last", missing.value("loss.last", summary.loss_last)}};
  add_partition(summary, missing, json);
  json["collectives"] = collective_objects(summary, missing);
  add_efficiency(summary, missing, json);
  add_probes(summary, missing, json);
  json["kernels"] = kernel_objects(summary);
  json["memory"] = memory_object(summary, missing);
  json["ranks"] = rank_objects(summary);
  json["environment"] = environment_object(summary.run.environment);
  json["notes"] = summary.notes;
  json["missing"] = missing.reasons();
  return dumped(json);
}

namespace {

/// A program's; null for a workload of ddbench's.
Json command_json(const RunCase& run_case) try {
  return is_program(run_case) ? Json(program_command(run_case)) : Json(nullptr);
} catch (const Error&) {
  return Json(nullptr);
}

}  // namespace

std::string run_list_json(const std::vector<RunSummary>& runs) {
  Json list = Json::array();
  for (const RunSummary& summary : runs) {
    const store::RunRecord& run = summary.run;
    MissingReasons missing;
    Json entry = {{"id", run.id},
                  {"name", run.run_case.name},
                  {"state", std::string(store::to_string(run.state))},
                  {"reason", run.reason},
                  {"valid", run.valid},
                  {"workload", work_name(run.run_case.work)},
                  {"command", command_json(run.run_case)},
                  {"nodes", placed_json(run.run_case, run.run_case.nodes)},
                  {"gpus_per_node", placed_json(run.run_case, run.run_case.gpus_per_node)},
                  {"world_size", run.run_case.world_size()},
                  {"scaling", scaling_mode_json(run.run_case, run.run_case.scaling)},
                  {"batch_per_gpu", samples_json(run.run_case, run.run_case.batch_per_gpu)},
                  {"device", run.run_case.device},
                  {"backend", run.run_case.backend},
                  {"link", run.run_case.link},
                  {"provenance", names_json(run.provenance)},
                  {"sweep_id", run.sweep_id},
                  {"baseline_id", run.baseline_id},
                  {"is_baseline", run.is_baseline},
                  {"started", time_json(run.started_wall_ns)},
                  {"finished", time_json(run.finished_wall_ns)}};
    entry["step_time_ns"] = quantity_json(summary.step_time_ns, "step_time_ns", missing);
    entry["samples_per_s"] = missing.value("samples_per_s", summary.samples_per_s);
    entry["efficiency"] = summary.efficiency ? Json(summary.efficiency.value().value)
                                             : missing.null("efficiency", summary.efficiency.reason());
    entry["missing"] = missing.reasons();
    list.push_back(std::move(entry));
  }
  return dumped(list);
}

}  // namespace ddbench::reports
