#include "harness/experiment/ingest/program_progress.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "core/span_limits.h"
#include "core/text/number.h"
#include "probes/recorder/live_counts.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

/// LiveCounts as they stand in the file.
struct Counts {
  std::uint64_t steps;
  std::int64_t first_step_ns;
  std::int64_t last_step_ns;
  std::int64_t communication_ns;
  std::int64_t at_first_step_ns;
  std::int64_t at_last_step_ns;

  double seconds() const { return static_cast<double>(last_step_ns - first_step_ns) / 1e9; }
};
static_assert(sizeof(Counts) == sizeof(LiveCounts));

std::optional<Counts> read_counts(const fs::path& file) {
  std::array<char, sizeof(Counts)> bytes{};
  if (!std::ifstream(file, std::ios::binary).read(bytes.data(), bytes.size())) return std::nullopt;
  Counts counts{};
  std::memcpy(&counts, bytes.data(), bytes.size());
  const auto in_order = [](std::int64_t first_ns, std::int64_t last_ns) { return is_time(first_ns) && is_time(last_ns) && first_ns <= last_ns; };
  const bool can_be = counts.steps > 0 && in_order(counts.first_step_ns, counts.last_step_ns) &&
                      in_order(counts.at_first_step_ns, counts.at_last_step_ns);
  return can_be ? std::optional(counts) : std::nullopt;
}

}  // namespace

std::optional<LiveProgress> read_program_progress(const fs::path& run_directory) {
  LiveProgress progress;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  double slowest = std::numeric_limits<double>::infinity();
  double shares = 0;
  int processes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_directory, error)) {
    if (!entry.path().string().ends_with(kLiveSuffix)) continue;
    const std::optional<Counts> counts = read_counts(entry.path());
    if (!counts) continue;
    ++processes;
    fewest = std::min(fewest, counts->steps);
    if (counts->steps < 2 || counts->seconds() <= 0) {
      slowest = 0;
      continue;
    }
    slowest = std::min(slowest, static_cast<double>(counts->steps - 1) / counts->seconds());
    shares += static_cast<double>(counts->at_last_step_ns - counts->at_first_step_ns) / 1e9 / counts->seconds();
  }
  if (processes == 0) return std::nullopt;
  progress.steps_done = static_cast<std::uint32_t>(std::min<std::uint64_t>(fewest, std::numeric_limits<std::uint32_t>::max()));
  progress.loss = std::numeric_limits<double>::quiet_NaN();
  progress.steps_per_s = slowest;
  if (slowest > 0) progress.communication_share = std::clamp(shares / processes, 0.0, 1.0);
  return progress;
}

std::vector<analyzer::LiveReading> read_program_readings(const fs::path& run_directory) {
  constexpr std::string_view kPrefix = "rank";
  std::map<int, analyzer::LiveReading> readings;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kLiveSuffix)) continue;
    const auto rank = leading_number<int>(std::string_view(name).substr(kPrefix.size()));
    const std::optional<Counts> counts = read_counts(entry.path());
    if (!rank || !counts || counts->steps <= readings[rank->value].steps) continue;
    readings[rank->value] = {rank->value, counts->steps, counts->at_last_step_ns};
  }
  std::vector<analyzer::LiveReading> list;
  for (const auto& [rank, reading] : readings) list.push_back(reading);
  return list;
}

}  // namespace ddbench::experiment
