#include "harness/experiment/run/machine_counts.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "core/number.h"

namespace ddbench::experiment {
namespace {

constexpr const char* kEnergy_j = "gpu.energy_j";

std::optional<double> energy_j(const std::vector<launch::MachineCounts>& counts, std::size_t machines) {
  if (counts.empty() || counts.size() < machines) return std::nullopt;
  double sum_j = 0;
  for (const launch::MachineCounts& machine : counts) {
    const auto told = machine.facts.find(kEnergy_j);
    const auto machine_j = told == machine.facts.end() ? std::nullopt : number_from<double>(told->second);
    if (!machine_j) return std::nullopt;
    sum_j += *machine_j;
  }
  return sum_j;
}

}  // namespace

std::map<std::string, std::string> counted_facts(const std::vector<launch::MachineCounts>& counts,
                                                 std::size_t machines, double samples) {
  std::map<std::string, std::string> facts;
  for (const launch::MachineCounts& machine : counts) {
    const std::string prefix = machines > 1 ? fmt::format("counted.node{}.", machine.node) : "counted.";
    for (const auto& [name, value] : machine.facts) facts[prefix + name] = value;
  }
  if (const auto sum_j = energy_j(counts, machines)) {
    facts["counted.gpu.energy_j"] = fmt::format("{:.6g}", *sum_j);
    if (samples > 0) facts["counted.gpu.energy_j_per_sample"] = fmt::format("{:.6g}", *sum_j / samples);
  }
  return facts;
}

std::vector<std::string> counted_notes(const std::vector<launch::MachineCounts>& counts,
                                       std::size_t machines) {
  std::vector<std::string> notes;
  for (const launch::MachineCounts& machine : counts) {
    for (const std::string& note : machine.notes) {
      notes.push_back(machines > 1 ? fmt::format("node {} ({}): {}", machine.node, machine.host, note)
                                   : note);
    }
  }
  return notes;
}

}  // namespace ddbench::experiment
