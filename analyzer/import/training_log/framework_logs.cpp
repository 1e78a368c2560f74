#include <algorithm>

#include "analyzer/import/training_log/log_rows.h"

namespace ddbench::imports {
namespace {

void keep(std::int64_t& value, std::optional<std::int64_t> logged) {
  if (logged && *logged > 0) value = *logged;
}

/// The count behind "  world_size ................... ": as many dots as fill the column.
std::optional<std::int64_t> count_behind_dots(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos || (at > 0 && line[at - 1] != ' ')) return std::nullopt;
  const std::string_view rest = line.substr(at + key.size());
  if (!rest.starts_with(" ..")) return std::nullopt;
  return count_after(rest.substr(std::min(rest.find_first_not_of(" ."), rest.size())), "");
}

}  // namespace

LogContent read_megatron(std::string_view text) {
  LogContent content;
  each_line(text, [&](std::string_view line, int number) {
    keep(content.job.gpus, count_after(line, "using world size:"));
    keep(content.job.tensor_parallel, count_after(line, "tensor-model-parallel size:"));
    keep(content.job.pipeline_parallel, count_after(line, "pipeline-model-parallel size:"));
    keep(content.job.context_parallel, count_after(line, "context-parallel size:"));
    const auto elapsed_ms = number_after(line, "elapsed time per iteration (ms):");
    const auto step = count_after(line, "iteration ");
    if (!elapsed_ms || !step) return;
    keep(content.job.global_batch, count_after(line, "global batch size:"));
    LogRow row;
    row.global_batch = count_after(line, "global batch size:").value_or(0);
    row.line = number;
    row.step = *step;
    row.step_ns = *elapsed_ms * 1e6;
    for (const char* key : {"lm loss:", "lm loss "}) {
      if (const auto loss = number_after(line, key)) row.loss = *loss;
    }
    content.rows.push_back(row);
  });
  return content;
}

LogContent read_deepspeed(std::string_view text) {
  LogContent content;
  each_line(text, [&](std::string_view line, int number) {
    keep(content.job.gpus, count_behind_dots(line, "world_size"));
    keep(content.job.global_batch, count_behind_dots(line, "train_batch_size"));
    if (line.find("CurrSamplesPerSec=") == std::string_view::npos) return;
    auto step = count_after(line, "global_step=");
    if (!step) step = count_after(line, "/");  // "0/20, RunningAvgSamplesPerSec=..." before version 0.7
    const auto stamp = stamp_in(line);
    if (!step || !stamp) return;
    LogRow row;
    row.line = number;
    row.step = *step;
    row.stamp_ns = stamp;
    content.rows.push_back(row);
  });
  return content;
}

LogContent read_torchtitan(std::string_view text) {
  LogContent content;
  each_line(text, [&](std::string_view line, int number) {
    keep(content.job.global_batch, count_after(line, "global batch size "));
    const auto step = count_after(line, "step:");
    const auto stamp = stamp_in(line);
    if (!step || !stamp || !number_after(line, "loss:")) return;
    if (line.find("tps:") == std::string_view::npos && line.find("wps:") == std::string_view::npos) return;
    LogRow row;
    row.line = number;
    row.step = *step;
    row.stamp_ns = stamp;
    row.loss = *number_after(line, "loss:");
    content.rows.push_back(row);
  });
  return content;
}

LogContent read_composer(std::string_view text) {
  LogContent content;
  std::optional<LogRow> row;
  const auto finish = [&] {
    if (row && row->step_ns > 0) content.rows.push_back(*row);
    row.reset();
  };
  each_line(text, [&](std::string_view line, int number) {
    if (const auto batch = count_after(line, "[batch="); batch && line.find("]:") != std::string_view::npos) {
      finish();
      row.emplace();
      row->line = number;
      row->step = *batch;
      return;
    }
    if (!row) return;
    // SpeedMonitor writes the mean of a window that moves on with each batch.
    if (const auto rate = number_after(line, " throughput/batches_per_sec:"); rate && *rate > 0) row->step_ns = 1e9 / *rate;
    if (const auto rate = number_after(line, " throughput/samples_per_sec:"); rate && *rate > 0) row->samples_per_s = *rate;
    if (const auto loss = number_after(line, " loss/train/total:")) row->loss = *loss;
  });
  finish();
  content.notes.emplace_back("Composer's throughput is a mean over the last batches (SpeedMonitor's window_size, 100 unless the program says "
                             "otherwise): rows may share batches, and percentiles and intervals are then too narrow");
  return content;
}

}  // namespace ddbench::imports
