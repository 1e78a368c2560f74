#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/import/imported_run.h"

namespace ddbench::imports {

/// Whose lines a log of training has.
enum class LogFormat : std::uint8_t { kMegatron, kDeepSpeed, kTorchTitan, kComposer, kMlperf, kRegex };
std::string_view to_string(LogFormat format) noexcept;  ///< "megatron", ...
/// Inverse of to_string; nothing for an unknown name.
std::optional<LogFormat> log_format_from(std::string_view word) noexcept;

struct TrainingLogOptions {
  std::string name;                ///< of the program; empty: that of the format
  int gpus = 0;                    ///< all of them; 0: as in the log
  int gpus_per_node = 0;           ///< 0: not stated
  std::int64_t global_batch = 0;   ///< samples per step; 0: as in the log
  int tensor_parallel = 0;         ///< GPUs that share a copy of the model; 0: as in the log, else 1
  int pipeline_parallel = 0;
  int context_parallel = 0;
  int warmup = 1;                  ///< rows that do not count: the first has compilation and set-up in it
  std::string regex;               ///< of kRegex: one line of a step
  std::string groups;              ///< in order: "step,step_time_ms"; also step_time_s, samples_per_s, loss
};

/// Makes one run from the lines in which a training program reported its steps. A line is one row, and its
/// step time is the mean over the steps since the line before. Formats that print no time take it from the
/// lines' time stamps. Such a run has only step time, throughput and loss. Lines of other ranks that repeat a
/// step are left out, and so are those of another global batch than the last one, which a note states.
///
/// The lines, as their programs print them: Megatron-LM "iteration 10/ 1000 | ... elapsed time per iteration (ms): 1147.6 |",
/// DeepSpeed "[stamp] ... global_step=10, RunningAvgSamplesPerSec=", torchtitan "[stamp] ... step: 10 loss: 7.1 ... tps: 5,432",
/// Composer "[batch=10/4800]:" with "throughput/batches_per_sec: 0.2" below, MLPerf ":::MLLOG {...}" with train_step_time or
/// throughput. Where MLPerf's `step` counts samples or tokens, it is divided by the batch. A throughput may be of samples or of
/// tokens: time stamps and steps of the lines must settle it.
///
/// Throws Error{kBadInput} naming `origin` and line: no such line, steps that go backward (two runs in one
/// log), invalid times, an unknown number of GPUs, a global batch that cannot be divided among them, a throughput of an unknown
/// unit.
ImportedRun read_training_log(std::string_view text, const std::string& origin, LogFormat format,
                              const TrainingLogOptions& options);

}  // namespace ddbench::imports
