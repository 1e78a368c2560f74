#include "reports/text/phrases.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/text/quantity.h"

namespace ddbench::reports {
namespace {

/// No two provenance names begin with the same letter.
std::string letter_of(std::string_view provenance) {
  return std::string(1, static_cast<char>(std::toupper(static_cast<unsigned char>(provenance.front()))));
}

}  // namespace

std::string gpus_in_words(int count) {
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

std::string scaling_in_words(const RunCase& run_case) {
  if (!is_training(run_case)) return {};
  if (!has_known_batch(run_case)) return {};
  const bool is_weak = run_case.scaling == ScalingMode::kWeak;
  return fmt::format("{} scaling, {}", to_string(run_case.scaling),
                     is_weak ? fmt::format("batch {} per GPU", count_in_words(run_case.batch_per_gpu))
                             : fmt::format("global batch {}", count_in_words(run_case.global_batch())));
}

std::string communicator_in_words(const std::string& label) {
  return label.empty() ? "all ranks" : label;
}

std::string shape_in_words(const RunCase& run_case) {
  if (run_case.nodes_not_stated) return fmt::format("{} ranks, GPUs per node not known", run_case.world_size());
  const int ranks = run_case.world_size();
  return fmt::format("{} node{} × {} = {} rank{}", run_case.nodes, run_case.nodes == 1 ? "" : "s",
                     gpus_in_words(run_case.gpus_per_node), ranks, ranks == 1 ? "" : "s");
}

std::string shape_in_short(const RunCase& run_case) {
  if (run_case.nodes_not_stated) return fmt::format("? × ? = {}", run_case.world_size());
  return fmt::format("{} × {}", run_case.nodes, run_case.gpus_per_node);
}

std::string provenance_in_words(ProvenanceSet provenance) {
  std::string words;
  for (const std::string_view name : provenance.names()) {
    if (!words.empty()) words += ", ";
    words += name;
  }
  return words.empty() ? "unknown" : words;
}

std::string provenance_in_letters(ProvenanceSet provenance) {
  std::string letters;
  for (const std::string_view name : provenance.names()) {
    if (!letters.empty()) letters += ' ';
    letters += letter_of(name);
  }
  return letters.empty() ? "?" : letters;
}

std::string provenance_legend(ProvenanceSet used) {
  std::string legend;
  for (const std::string_view name : used.names()) {
    legend += legend.empty() ? "provenance: " : " · ";
    legend += letter_of(name);
    legend += ' ';
    legend += name;
  }
  return legend;
}

std::string part_in_words(store::StepPart part) {
  return part_in_words(store::to_string(part));
}

std::string part_in_words(std::string_view stored_name) {
  if (stored_name == store::to_string(store::StepPart::kCpuWait)) return "CPU wait";
  std::string words(stored_name);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string sentence(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string sweep_in_words(const std::string& id) {
  return id.starts_with("sweep-") ? "sweep " + id.substr(6) : "sweep " + id;
}

std::string utc_time(std::int64_t wall_ns) {
  if (wall_ns <= 0) return {};
  const ::time_t seconds = wall_ns / 1'000'000'000;
  ::tm fields{};
  if (::gmtime_r(&seconds, &fields) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", fields.tm_year + 1900, fields.tm_mon + 1,
                     fields.tm_mday, fields.tm_hour, fields.tm_min);
}

std::string count_in_words(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string value_in_words(double value, std::string_view unit) {
  if (unit == "ns") return time_in_words(value);
  if (unit == "1") return number(value, 4);
  if (unit == "samples/s") return number(value, 4) + " samples/s";
  return quantity(value, unit == "bytes" ? "B" : unit);
}

std::string short_id(const std::string& run_id) {
  constexpr std::size_t kDigits = 8;
  return run_id.size() > kDigits ? run_id.substr(run_id.size() - kDigits) : run_id;
}

std::string rate_in_words(double work_per_s, bool counts_samples, double ranks) {
  return counts_samples ? number(work_per_s, 4) : number(work_per_s / std::max(ranks, 1.0), 4) + " steps/s";
}

std::string percent_in_words(double share) {
  if (!std::isfinite(share)) return "n/a";
  return fmt::format("{:.1f}%", 100 * share);
}

}  // namespace ddbench::reports
