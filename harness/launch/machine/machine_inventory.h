#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "probes/machine/machine.h"

namespace ddbench::launch {

/// The machine of a remote rank, as the rank reported it.
struct RankMachine {
  std::string boot_id;   ///< of its kernel
  std::string cores;     ///< that the rank may run on: "0,1,2"
  host::Facts hardware;  ///< empty: another rank of its node reports it
};

/// The cores that ranks were given, by kernel.
std::map<std::string, std::set<std::string>> cores_by_kernel(std::span<const RankMachine> ranks);

/// The facts of each machine once, in the order of the ranks. "cpu.cores" are those that its ranks were
/// given: mpirun and srun bind a rank to some, so that none of them sees all.
std::vector<host::Facts> machines_of(std::span<const RankMachine> ranks);

/// In words: the first machine that differs from that of rank 0 in a property that determines speed. Empty
/// when none does.
std::string difference_of(std::span<const host::Facts> machines);

}  // namespace ddbench::launch
