#include "analyzer/import/recognise/recognise.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analyzer/import/kineto/file_bytes.h"
#include "analyzer/import/numbers.h"
#include "core/error.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBeginningBytes = std::size_t{256} << 10;
constexpr std::size_t kMostFiles = 64;

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw Error(ErrorCode::kBadInput,
              fmt::format("{}: {}; the formats are traces of PyTorch's profiler (kineto), exports of Nsight Systems (nsys), "
                          "dumps of PyTorch's Flight Recorder (flight-recorder), timelines of Horovod (horovod), what nccl-tests print (nccl-tests), NCCL Inspector's (nccl-inspector), what ncclras "
                          "-f json prints (nccl-ras), logs of MLPerf (mlperf) and of Megatron-LM, DeepSpeed, torchtitan and Composer (log), "
                          "spools and tables (CSV)",
                          path.string(), why),
              0, path.string());
}

std::string beginning_of(const fs::path& file) {
  FileBytes bytes(file);
  std::string text(kBeginningBytes, '\0');
  std::size_t size = 0;
  for (std::size_t got = 1; got > 0 && size < text.size(); size += got) got = bytes.read(text.data() + size, text.size() - size);
  text.resize(size);
  return text;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// A header with a number of GPUs.
bool is_table(std::string_view text) {
  const std::string header = lower_case(text.substr(0, text.find('\n')));
  return header.find(',') != std::string::npos && has_any(header, {"gpus", "world_size", "throughput", "step_time"});
}

/// Recognises a log by lines that only its format has; empty if it has none.
std::string_view log_format(std::string_view text) {
  if (has_any(text, {"elapsed time per iteration (ms):"})) return "megatron";
  if (has_any(text, {"CurrSamplesPerSec="})) return "deepspeed";
  if (has_any(text, {"[titan]"}) && has_any(text, {"tps:", "wps:"})) return "torchtitan";
  if (has_any(text, {"[batch="}) && has_any(text, {"throughput/batches_per_sec:"})) return "composer";
  return {};
}

/// A store of ddbench's own (analyzer/store/FORMAT.md: SQLite's application id, at byte 68 of the header).
bool is_store(std::string_view text) {
  return text.substr(std::min<std::size_t>(68, text.size())).starts_with("DDBN");
}

std::optional<Format> format_of(std::string_view text) {
  if (text.starts_with('\x80')) return Format::kFlightRecorder;
  if (text.starts_with("SQLite format 3")) return is_store(text) ? std::nullopt : std::optional(Format::kNsys);
  const std::string_view content = trimmed(text);
  if (has_any(content, {"\"communicators_count\""})) return Format::kNcclRas;
  if (content.starts_with('{') || content.starts_with('[')) {
    if (has_any(content, {"\"coll_perf\"", "\"p2p_perf\""})) return Format::kNcclInspector;
    if (has_any(content, {"\"NEGOTIATE_", "\"start_time_since_epoch_in_micros\""})) return Format::kHorovod;
    if (has_any(content, {"\"traceEvents\"", "\"ph\""})) return Format::kKineto;
    if (has_any(content, {"\"pg_config\"", "\"collective_seq_id\""})) return Format::kFlightRecorder;
    if (has_any(content, {"out_of_place", "busbw"})) return Format::kNcclTests;
    return std::nullopt;
  }
  if (has_any(content, {"# nThread", "# Collective test starting", "algbw   busbw"})) return Format::kNcclTests;
  if (has_any(content, {"Communicators..."}) && has_any(content, {"Job summary"})) return Format::kNcclRas;
  if (has_any(content, {":::MLLOG "})) return Format::kMlperf;
  if (!log_format(content).empty()) return Format::kLog;
  if (is_table(content)) return Format::kTable;
  return std::nullopt;
}

Format format_of_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error)) {
    if (!entry.is_regular_file(error)) continue;
    if (entry.path().extension() == ".spool") return Format::kSpools;
    if (files.size() < kMostFiles) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (const std::optional<Format> format = format_of(beginning_of(file))) return *format;
  }
  refuse(folder, "no file below it is of a format that can be imported");
}

}  // namespace

std::string_view to_string(Format format) noexcept {
  switch (format) {
    case Format::kKineto: return "kineto";
    case Format::kNsys: return "nsys";
    case Format::kFlightRecorder: return "flight-recorder";
    case Format::kHorovod: return "horovod";
    case Format::kNcclRas: return "nccl-ras";
    case Format::kNcclTests: return "nccl-tests";
    case Format::kNcclInspector: return "nccl-inspector";
    case Format::kSpools: return "spools";
    case Format::kMlperf: return "mlperf";
    case Format::kLog: return "log";
    case Format::kTable: return "table";
  }
  return "";
}

Format recognise(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return format_of_folder(path);
  if (path.extension() == ".spool") return Format::kSpools;
  const std::optional<Format> format = format_of(beginning_of(path));
  if (!format) refuse(path, "its content is of no format that can be imported");
  return *format;
}

std::string log_format_of(const fs::path& path) {
  const std::string_view format = log_format(beginning_of(path));
  if (format.empty()) refuse(path, "it has no line of a step of a training program that is known");
  return std::string(format);
}

Format recognise(const std::vector<fs::path>& paths) {
  const Format first = recognise(paths.front());
  for (const fs::path& path : paths) {
    const Format format = recognise(path);
    if (format == first) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is of the format {} and {} of the format {}: import them one after the other",
                            paths.front().string(), to_string(first), path.string(), to_string(format)));
  }
  return first;
}

}  // namespace ddbench::imports
