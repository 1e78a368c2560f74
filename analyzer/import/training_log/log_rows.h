#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/training_log/training_log.h"

namespace ddbench::imports {

/// The data of one line, for the steps up to the one it names.
struct LogRow {
  int line = 0;
  std::int64_t step = 0;
  double step_ns = 0;                      ///< mean per step; 0: the line does not state it
  std::optional<std::int64_t> stamp_ns;    ///< when the line was written
  double samples_per_s = 0;                ///< of the whole job; 0: not stated
  std::int64_t global_batch = 0;           ///< samples of each of its steps; 0: not stated
  double loss = std::numeric_limits<double>::quiet_NaN();
};

/// Information of a log about its job; 0: not stated.
struct LogJob {
  std::int64_t gpus = 0;
  std::int64_t global_batch = 0;
  std::int64_t tensor_parallel = 0;
  std::int64_t pipeline_parallel = 0;
  std::int64_t context_parallel = 0;
};

struct LogContent {
  std::vector<LogRow> rows;
  LogJob job;
  std::vector<std::string> notes;  ///< for the user: what the rows are
};

/// Calls `take(line, number)` for each line, without colours and the end of the line; cut off behind 64 KiB.
template <typename Take>
void each_line(std::string_view text, const Take& take);

/// `line` without terminal colours.
std::string without_colours(std::string_view line);
/// The number behind `key` in a line, blanks and separators of thousands left out; nothing where there is none.
std::optional<double> number_after(std::string_view line, std::string_view key) noexcept;
std::optional<std::int64_t> count_after(std::string_view line, std::string_view key) noexcept;
/// Nanoseconds since 1970 of the first "2026-01-11 12:34:56,789" (or ".789", or with a T) in a line.
std::optional<std::int64_t> stamp_in(std::string_view line) noexcept;

// One for each format. They throw Error{kBadInput} naming `origin` and line for a line that begins as one of theirs and is not.
LogContent read_megatron(std::string_view text);
LogContent read_deepspeed(std::string_view text);
LogContent read_torchtitan(std::string_view text);
LogContent read_composer(std::string_view text);
/// `global_batch`: as the user states it; 0: as in the log. A throughput whose unit nothing settles throws, too.
LogContent read_mlperf(std::string_view text, const std::string& origin, std::int64_t global_batch);
LogContent read_with_regex(std::string_view text, const std::string& origin, const TrainingLogOptions& options);

template <typename Take>
void each_line(std::string_view text, const Take& take) {
  constexpr std::size_t kLongestLine = std::size_t{64} << 10;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    line = line.substr(0, kLongestLine);
    line.find('\x1b') == std::string_view::npos ? take(line, number) : take(without_colours(line), number);
  }
}

}  // namespace ddbench::imports
