#include "reports/formats/mlflow/run_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/rate/measured_steps.h"
#include "analyzer/run/run_fields.h"
#include "core/run_case/learning_rate.h"
#include "core/run_case/program_case.h"
#include "core/span_limits.h"
#include "core/text/text_hash.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports::mlflow {
namespace {

using analyzer::RunSummary;

constexpr std::size_t kLongestParam = 500;  ///< of the oldest MLflow that is in use
constexpr std::size_t kLongestTag = 5000;
constexpr std::size_t kLongestKey = 120;

std::string plain(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void add_params(const RunCase& run_case, ProvenanceSet provenance, RunValues& values) {
  const auto add = [&](const std::string& key, const std::string& value) {
    values.params[safe_key(key)] = shortened(visible(value), kLongestParam);
  };
  const nlohmann::ordered_json fields = nlohmann::ordered_json::parse(to_json(run_case));
  for (const auto& [key, value] : fields.items()) {
    if (key == "tags" || key == "name" || !analyzer::has_meaning(run_case, provenance, key)) continue;
    if (value.is_object()) {
      for (const auto& [name, entry] : value.items()) add(key + "." + name, plain(entry));
    } else {
      add(key, plain(value));
    }
  }
  add("world_size", std::to_string(run_case.world_size()));
  if (has_known_batch(run_case)) add("global_batch", std::to_string(run_case.global_batch()));
}

void add_tags(const RunSummary& summary, RunValues& values) {
  const store::RunRecord& run = summary.run;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) values.tags[safe_key(key)] = shortened(visible(value), kLongestTag);
  };
  add("mlflow.runName", run.run_case.name.empty() ? run.id : run.run_case.name);
  add("mlflow.source.name", "ddbench");
  add("mlflow.source.type", "LOCAL");
  add("ddbench.run_id", run.id);
  add("ddbench.state", std::string(store::to_string(run.state)));
  add("ddbench.reason", run.reason);
  add("ddbench.valid", run.valid ? "true" : "false: " + run.invalid_reason);
  add("ddbench.sweep_id", run.sweep_id);
  add("ddbench.baseline_id", run.baseline_id);
  add("ddbench.provenance", provenance_in_words(run.provenance));
  add("ddbench.network", run.environment.network);
  add("ddbench.fingerprint", run.environment.fingerprint);
  std::string note = markdown_text(run_verdict(summary));
  for (const std::string& text : run_alarms(summary)) note += " **" + markdown_text(text) + "**";
  for (const std::string& text : run_notes(summary)) note += " " + markdown_text(text) + ".";
  add("mlflow.note.content", note);
  for (const auto& [key, value] : run.run_case.tags) add("tag." + key, value);
}

/// One step over its ranks.
struct StepValues {
  std::int64_t end_ns = 0;  ///< on the first rank's clock
  store::StepPartition parts;
  int probed_ranks = 0;
  double loss = 0;
  int losses = 0;
};

std::map<std::uint32_t, StepValues> by_step(const std::vector<store::StepRecord>& steps) {
  std::map<std::uint32_t, StepValues> found;
  for (const store::StepRecord& step : steps) {
    StepValues& values = found[step.step];
    if (step.rank == 0) values.end_ns = step.begin_ns + step.duration_ns;
    if (step.probes_on) {
      for (std::size_t part = 0; part < values.parts.ns.size(); ++part)
        values.parts.ns[part] = add_ns(values.parts.ns[part], step.partition.ns[part]);
      ++values.probed_ranks;
    }
    if (std::isfinite(step.loss)) {
      values.loss += step.loss;
      ++values.losses;
    }
  }
  return found;
}

void add_step_metrics(const RunSummary& summary, const std::vector<store::StepRecord>& steps,
                      RunValues& values) {
  const auto found = by_step(steps);
  const std::int64_t first_ns = found.empty() ? 0 : found.begin()->second.end_ns;
  const Measured<double>& samples = summary.samples_per_step;
  const std::map<std::uint32_t, double> recorded(summary.learning_rates.begin(), summary.learning_rates.end());
  std::map<std::uint32_t, std::int64_t> added_ns;  // to the elapsed time, of steps that all ranks recorded
  for (const analyzer::RunStep& step :
       analyzer::measured_steps(steps, 0, summary.ranks, summary.ranks.size()).steps)
    added_ns[step.step] = step.added_ns;
  for (const auto& [step, of_step] : found) {
    const std::int64_t after_ns = std::max<std::int64_t>(of_step.end_ns - first_ns, 0);
    const std::int64_t time_ms = (summary.run.started_wall_ns + after_ns) / 1'000'000;
    const auto add = [&, number = step](const std::string& name, double value) {
      values.metrics[name].push_back({time_ms, value, number});
    };
    if (const auto length = added_ns.find(step); summary.step_time_ns && length != added_ns.end() && length->second > 0) {
      add("step_time_ms", static_cast<double>(length->second) / 1e6);
      if (samples) add("samples_per_s", *samples * 1e9 / static_cast<double>(length->second));
    }
    if (const auto rate = recorded.find(step); rate != recorded.end()) {
      add("learning_rate", rate->second);
    } else if (applies_learning_rate(summary)) {
      add("learning_rate", learning_rate(summary.run.run_case, step));
    }
    if (of_step.losses > 0) add("loss", of_step.loss / of_step.losses);
    for (int i = 0; of_step.probed_ranks > 0 && i < store::kStepPartCount; ++i) {
      const auto part = static_cast<store::StepPart>(i);
      add(fmt::format("{}_ms", store::to_string(part)),
          static_cast<double>(of_step.parts[part]) / of_step.probed_ranks / 1e6);
    }
  }
}

void add_headline_metrics(const RunSummary& summary, RunValues& values) {
  const std::int64_t time_ms =
      std::max(summary.run.started_wall_ns, summary.run.finished_wall_ns) / 1'000'000;
  const auto add = [&](const std::string& name, double value) {
    if (std::isfinite(value)) values.metrics[name].push_back({time_ms, value, 0});
  };
  if (summary.step_time_ns) add("mean_step_time_ms", summary.step_time_ns->value / 1e6);
  if (summary.samples_per_s) add("mean_samples_per_s", *summary.samples_per_s);
  if (const auto& exposed_ns = summary.exposed_communication_ns)
    add("exposed_communication_ms", static_cast<double>(*exposed_ns) / 1e6);
  if (const auto peak = analyzer::device_peak_bytes(summary.run)) add("device_peak_memory_bytes", *peak);
  if (!summary.efficiency) return;
  add("efficiency", summary.efficiency->value);
  add("speedup", summary.efficiency->speedup);
  add("lost_ms", static_cast<double>(summary.efficiency->lost_ns) / 1e6);
}

}  // namespace

std::string hash_of(const std::string& text, std::uint64_t salt) {
  return fmt::format("{:016x}", hash_text(text, kHashBegin ^ (salt * 0x9e3779b97f4a7c15ULL)));
}

std::string safe_key(const std::string& key) {
  std::string safe;
  for (const char c : key.substr(0, kLongestKey)) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         std::string_view("_-.").find(c) != std::string_view::npos;
    safe += allowed ? c : '_';
  }
  if (!safe.empty() && safe.front() == '.') safe.front() = '_';
  return safe == key && !safe.empty() ? safe : safe + "-" + hash_of(key).substr(0, 8);
}

std::map<std::string, std::string> case_params(const RunCase& run_case) {
  RunValues values;
  add_params(run_case, {}, values);  // of a run that begins: nothing of it is imported
  return values.params;
}

RunValues run_values(const RunSummary& summary, const std::vector<store::StepRecord>& steps) {
  RunValues values;
  add_params(summary.run.run_case, summary.run.provenance, values);
  add_tags(summary, values);
  add_step_metrics(summary, steps, values);
  add_headline_metrics(summary, values);
  return values;
}

}  // namespace ddbench::reports::mlflow
