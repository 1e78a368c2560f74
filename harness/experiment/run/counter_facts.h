#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "harness/launch/machine/machine_counters.h"

namespace ddbench::experiment {

/// For store::Environment::facts: "counted." and what each machine reported, with the node that a machine is
/// where ranks were on several (`machines`): "counted.node1.nic.eth0.sent_bytes". "counted.gpu.energy_j" and,
/// when the run trained on `samples` above 0, "counted.gpu.energy_j_per_sample" are of all machines together:
/// they are missing where one of them did not report its energy.
std::map<std::string, std::string> counted_facts(const std::vector<launch::MachineCounts>& counts,
                                                 std::size_t machines, double samples);

/// For people; with the node and its host where ranks were on several machines.
std::vector<std::string> counted_notes(const std::vector<launch::MachineCounts>& counts,
                                       std::size_t machines);

}  // namespace ddbench::experiment
