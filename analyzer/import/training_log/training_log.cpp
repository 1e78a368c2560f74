#include "analyzer/import/training_log/training_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/import/training_log/log_rows.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

constexpr double kLongestStep_ns = 1e15;  // 11 days
constexpr std::array<std::pair<LogFormat, std::string_view>, 6> kFormats = {{{LogFormat::kMegatron, "megatron"},
                                                                             {LogFormat::kDeepSpeed, "deepspeed"},
                                                                             {LogFormat::kTorchTitan, "torchtitan"},
                                                                             {LogFormat::kComposer, "composer"},
                                                                             {LogFormat::kMlperf, "mlperf"},
                                                                             {LogFormat::kRegex, "regex"}}};

[[noreturn]] void refuse(const std::string& origin, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", origin, why), 0, origin);
}

LogContent read_content(std::string_view text, const std::string& origin, LogFormat format, const TrainingLogOptions& options) {
  switch (format) {
    case LogFormat::kMegatron: return read_megatron(text);
    case LogFormat::kDeepSpeed: return read_deepspeed(text);
    case LogFormat::kTorchTitan: return read_torchtitan(text);
    case LogFormat::kComposer: return read_composer(text);
    case LogFormat::kMlperf: return read_mlperf(text, origin, options.global_batch);
    case LogFormat::kRegex: return read_with_regex(text, origin, options);
  }
  return {};
}

/// Every step once, in order.
void leave_out_repeated(std::vector<LogRow>& rows, const std::string& origin) {
  std::vector<LogRow> kept;
  for (const LogRow& row : rows) {
    if (!kept.empty() && row.step == kept.back().step) continue;  // another rank's line
    if (!kept.empty() && row.step < kept.back().step)
      refuse(origin, fmt::format("line {}: step {} follows step {} of line {}: divide the log, it has several runs", row.line,
                                 row.step, kept.back().step, kept.back().line));
    kept.push_back(row);
  }
  rows = std::move(kept);
}

/// Steps of a batch that grows at first (Megatron's --rampup-batch-size) take other times: the run is that of the last batch.
void keep_last_batch(std::vector<LogRow>& rows, std::vector<std::string>& notes) {
  if (rows.empty() || rows.back().global_batch == 0) return;
  const std::int64_t last = rows.back().global_batch;
  const std::size_t left_out = std::erase_if(rows, [&](const LogRow& row) { return row.global_batch != 0 && row.global_batch != last; });
  if (left_out > 0)
    notes.push_back(fmt::format("{} rows with another global batch than the last ({}) were left out", left_out, last));
}

/// Step times of lines that have only the time at which they were written: the first one only begins the second.
void take_times_from_stamps(std::vector<LogRow>& rows, std::vector<std::string>& notes) {
  if (rows.empty() || !rows.front().stamp_ns || rows.front().step_ns > 0) return;
  for (std::size_t i = rows.size() - 1; i > 0; --i) {
    rows[i].step_ns = static_cast<double>(*rows[i].stamp_ns - *rows[i - 1].stamp_ns) /
                      static_cast<double>(rows[i].step - rows[i - 1].step);
  }
  rows.erase(rows.begin());
  notes.emplace_back("the log has no step times: they are those between its lines, with all that was done between them");
}

void take_times_from_throughput(std::vector<LogRow>& rows, std::int64_t global_batch, const std::string& origin) {
  for (LogRow& row : rows) {
    if (row.step_ns > 0 || row.samples_per_s <= 0) continue;
    if (global_batch == 0)
      refuse(origin, fmt::format("line {}: it has a throughput and no step time: state the --global-batch", row.line));
    row.step_ns = static_cast<double>(global_batch) / row.samples_per_s * 1e9;
  }
}

void check_times(const std::vector<LogRow>& rows, const std::string& origin) {
  double total_ns = 0;
  for (const LogRow& row : rows) {
    if (!(row.step_ns >= 1) || row.step_ns > kLongestStep_ns)
      refuse(origin, fmt::format("line {}: step {} takes {:.4g} ms, which cannot be", row.line, row.step, row.step_ns / 1e6));
    total_ns += row.step_ns;
    if (total_ns > static_cast<double>(kLatest_ns))
      refuse(origin, fmt::format("line {}: the steps up to {} take {:.4g} years, which cannot be", row.line, row.step, total_ns / 3.156e16));
  }
}

std::int64_t chosen(std::int64_t stated, std::int64_t logged, std::int64_t otherwise) {
  return stated > 0 ? stated : logged > 0 ? logged : otherwise;
}

void set_sizes(const LogJob& job, const TrainingLogOptions& options, const std::string& origin, store::RunRecord& run) {
  const std::int64_t gpus = chosen(options.gpus, job.gpus, 0);
  if (gpus == 0) refuse(origin, "it does not say on how many GPUs it ran: state --gpus");
  if (gpus > kMostRanks) refuse(origin, fmt::format("it says that it ran on {} GPUs, which are too many", gpus));
  const std::int64_t per_node = chosen(options.gpus_per_node, 0, gpus);
  if (gpus % per_node != 0) refuse(origin, fmt::format("--gpus-per-node {} does not divide {} GPUs", per_node, gpus));
  run.run_case.nodes = static_cast<int>(gpus / per_node);
  run.run_case.gpus_per_node = static_cast<int>(per_node);
  if (options.gpus_per_node == 0) set_unplaced(run.run_case, static_cast<int>(gpus));
  const auto set = [&](const char* name, std::int64_t stated, std::int64_t logged) {
    const std::int64_t size = chosen(stated, logged, 1);
    if (size > kMostRanks) refuse(origin, fmt::format("{} is {}, which is more than the {} GPUs that a job may have", name, size, kMostRanks));
    if (size > 1) run.run_case.strategy_options[name] = std::to_string(size);
    return size;
  };
  std::int64_t copy = set("tensor_parallel", options.tensor_parallel, job.tensor_parallel);
  copy *= set("pipeline_parallel", options.pipeline_parallel, job.pipeline_parallel);
  copy *= set("context_parallel", options.context_parallel, job.context_parallel);
  if (copy > gpus || gpus % copy != 0) refuse(origin, fmt::format("{} GPUs cannot hold whole copies of a model that is spread over {}", gpus, copy));
}

void set_batch(std::int64_t global_batch, const std::string& origin, RunCase& run_case) {
  if (global_batch == 0) return;
  const std::int64_t copies = run_case.world_size() / run_case.model_parallel();
  if (global_batch % copies != 0) {
    refuse(origin, fmt::format("a global batch of {} cannot be shared by {} copies of the model: state --tensor-parallel, "
                               "--pipeline-parallel or --context-parallel",
                               global_batch, copies));
  }
  state_batch(run_case, global_batch / copies);
}

std::vector<store::StepRecord> steps_of(const std::vector<LogRow>& rows) {
  std::vector<store::StepRecord> steps;
  std::int64_t begin_ns = 0;
  for (const LogRow& row : rows) {
    store::StepRecord& step = steps.emplace_back();
    step.step = static_cast<std::uint32_t>(steps.size() - 1);
    step.begin_ns = begin_ns;
    step.duration_ns = std::llround(row.step_ns);
    step.probes_on = false;
    step.loss = row.loss;
    begin_ns += step.duration_ns;
  }
  return steps;
}

void note_means(const std::vector<LogRow>& rows, Facts& facts, std::vector<std::string>& notes) {
  const std::int64_t steps = rows.size() < 2 ? 1 : rows[1].step - rows[0].step;
  if (steps <= 1) return;
  set_fact(facts, fact_key<"import.mean_of_steps">, steps);
  notes.push_back(fmt::format("a row of the log is the mean of {} steps: intervals are those of such means", steps));
}

}  // namespace

std::string_view to_string(LogFormat format) noexcept {
  for (const auto& [known, word] : kFormats) {
    if (known == format) return word;
  }
  return "";
}

std::optional<LogFormat> log_format_from(std::string_view word) noexcept {
  for (const auto& [format, known] : kFormats) {
    if (known == word) return format;
  }
  return std::nullopt;
}

ImportedRun read_training_log(std::string_view text, const std::string& origin, LogFormat format,
                              const TrainingLogOptions& options) {
  LogContent content = read_content(text, origin, format, options);
  if (content.rows.empty()) refuse(origin, fmt::format("it has no line of a step as {} writes them", to_string(format)));
  std::vector<std::string> notes = {"of a log only step times, throughput and losses are known"};
  notes.insert(notes.end(), content.notes.begin(), content.notes.end());
  const std::int64_t global_batch = chosen(options.global_batch, content.job.global_batch, 0);
  leave_out_repeated(content.rows, origin);
  keep_last_batch(content.rows, notes);
  take_times_from_stamps(content.rows, notes);
  take_times_from_throughput(content.rows, global_batch, origin);
  if (content.rows.empty()) refuse(origin, "it has one line of a step: the time of a step needs two");
  check_times(content.rows, origin);
  if (options.warmup >= static_cast<int>(content.rows.size()))
    refuse(origin, fmt::format("it has {} rows, and --warmup leaves out {}", content.rows.size(), options.warmup));
  ImportedRun imported;
  store::RunRecord& run = imported.run;
  note_means(content.rows, run.environment.facts, notes);
  set_program(run.run_case, {options.name.empty() ? std::string(to_string(format)) : options.name});
  set_sizes(content.job, options, origin, run);
  set_batch(global_batch, origin, run.run_case);
  run.run_case.warmup = options.warmup;
  run.run_case.steps = static_cast<int>(content.rows.size()) - options.warmup;
  validate(run.run_case);
  run.state = store::RunState::kDone;
  run.provenance = {Provenance::kImported};
  for (std::size_t i = 0; i < notes.size(); ++i)
    set_fact(run.environment.facts, fact_key_of<"note.*">(static_cast<int>(i) + 1), notes[i]);
  imported.steps = steps_of(content.rows);
  return imported;
}

}  // namespace ddbench::imports
