#include "harness/launch/machine/machine_inventory.h"

#include <fmt/format.h>

#include <sstream>

namespace ddbench::launch {

std::map<std::string, std::set<std::string>> cores_by_kernel(std::span<const RankMachine> ranks) {
  std::map<std::string, std::set<std::string>> cores;
  for (const RankMachine& rank : ranks) {
    std::istringstream list(rank.cores);
    for (std::string core; std::getline(list, core, ',');) cores[rank.boot_id].insert(core);
  }
  return cores;
}

std::vector<host::Facts> machines_of(std::span<const RankMachine> ranks) {
  const auto cores = cores_by_kernel(ranks);
  std::set<std::string> reported;
  std::vector<host::Facts> machines;
  for (const RankMachine& rank : ranks) {
    if (rank.hardware.empty() || !reported.insert(rank.boot_id).second) continue;
    machines.push_back(rank.hardware);
    if (const auto given = cores.find(rank.boot_id); given != cores.end()) {
      machines.back()["cpu.cores"] = std::to_string(given->second.size());
    }
  }
  return machines;
}

std::string difference_of(std::span<const host::Facts> machines) {
  if (machines.empty()) return {};
  const auto name = [](const host::Facts& machine) {
    const auto found = machine.find("hostname");
    return found == machine.end() ? std::string("a machine") : found->second;
  };
  const std::string first = host::decisive_hardware(machines.front());
  for (const host::Facts& machine : machines) {
    const std::string other = host::decisive_hardware(machine);
    if (other == first) continue;
    return fmt::format("the machines of the ranks differ: {} is {}; {} is {}", name(machines.front()), first,
                       name(machine), other);
  }
  return {};
}

}  // namespace ddbench::launch
