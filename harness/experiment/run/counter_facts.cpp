#include "harness/experiment/run/counter_facts.h"

#include <fmt/format.h>

#include <optional>

#include "core/facts/facts.h"

namespace ddbench::experiment {
namespace {

std::optional<double> energy_j(const std::vector<launch::MachineCounts>& counts, std::size_t machines) {
  if (counts.empty() || counts.size() < machines) return std::nullopt;
  double sum_j = 0;
  for (const launch::MachineCounts& machine : counts) {
    const auto machine_j = get_fact(machine.facts, fact_key<"gpu.energy_j">);
    if (!machine_j) return std::nullopt;
    sum_j += *machine_j;
  }
  return sum_j;
}

}  // namespace

Facts counted_facts(const std::vector<launch::MachineCounts>& counts, std::size_t machines, double samples) {
  Facts facts;
  for (const launch::MachineCounts& machine : counts) {
    const std::string prefix = machines > 1 ? fmt::format("counted.node{}.", machine.node) : "counted.";
    for (const auto& [name, value] : machine.facts) facts[prefix + name] = value;
  }
  if (const auto sum_j = energy_j(counts, machines)) {
    set_fact(facts, counted(fact_key<"gpu.energy_j">), *sum_j);
    if (samples > 0) set_fact(facts, counted(fact_key<"gpu.energy_j_per_sample">), *sum_j / samples);
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
