#pragma once

#include <string>
#include <vector>

namespace ddbench::launch {

/// The cores that this process may run on, ascending.
std::vector<int> allowed_cores();

/// The same cores in the order in which ranks should take them: one hardware thread of each physical core
/// first. `siblings[i]` names the physical core of cores[i] (equal for hardware threads of one core).
std::vector<int> order_by_physical_core(const std::vector<int>& cores, const std::vector<int>& siblings);

/// allowed_cores() in that order. A rank gets one of them, however many are free: else a run on few ranks would have more machine
/// behind each rank than one on many, and efficiency would mean nothing.
std::vector<int> ordered_cores();

/// Pins the calling thread, and all threads that it starts later, to `core`; -1 leaves it alone. Returns
/// where it is pinned ("3"), or "" when it is not (not asked, or refused by the system).
std::string pin_to_core(int core);

}  // namespace ddbench::launch
