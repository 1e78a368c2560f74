#include "phrases.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

namespace ddbench::reports {

std::string gpus_in_words(int count) {
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

std::string shape_in_words(const RunCase& run_case) {
  const int ranks = run_case.world_size();
  return fmt::format("{} node{} × {} = {} rank{}", run_case.nodes, run_case.nodes == 1 ? "" : "s",
                     gpus_in_words(run_case.gpus_per_node), ranks, ranks == 1 ? "" : "s");
}

std::string provenance_in_words(ProvenanceSet provenance) {
  std::string words;
  for (const std::string_view name : provenance.names()) {
    if (!words.empty()) words += ", ";
    words += name;
  }
  return words.empty() ? "unknown" : words;
}

std::string part_in_words(store::StepPart part) {
  std::string words{store::to_string(part)};
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string utc_time(std::int64_t wall_ns) {
  if (wall_ns <= 0) return {};
  const ::time_t seconds = wall_ns / 1'000'000'000;
  ::tm fields{};
  if (::gmtime_r(&seconds, &fields) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", fields.tm_year + 1900, fields.tm_mon + 1,
                     fields.tm_mday, fields.tm_hour, fields.tm_min);
}

std::string percent_in_words(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace ddbench::reports
