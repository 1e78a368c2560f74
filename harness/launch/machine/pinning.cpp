#include "harness/launch/machine/pinning.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

namespace ddbench::launch {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
constexpr int kMostCores = 8192;

/// The lowest hardware thread of the physical core; the core itself when the system does not report it.
int physical_core(int core) {
  int first = core;
  std::ifstream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", core)) >> first;
  return first;
}

}  // namespace

std::vector<int> allowed_cores() {
  const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(kMostCores));
  const std::size_t size = CPU_ALLOC_SIZE(kMostCores);
  CPU_ZERO_S(size, set.get());
  std::vector<int> cores;
  if (::sched_getaffinity(0, size, set.get()) != 0) return cores;
  for (int core = 0; core < kMostCores; ++core) {
    if (CPU_ISSET_S(static_cast<std::size_t>(core), size, set.get())) cores.push_back(core);
  }
  return cores;
}

std::vector<int> order_by_physical_core(const std::vector<int>& cores, const std::vector<int>& siblings) {
  std::map<int, int> threads_seen;
  std::vector<std::pair<int, int>> ranked;  // which thread of its physical core, position
  for (std::size_t i = 0; i < cores.size(); ++i) {
    ranked.emplace_back(threads_seen[siblings[i]]++, static_cast<int>(i));
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<int> ordered;
  for (const auto& [thread, position] : ranked) ordered.push_back(cores[static_cast<std::size_t>(position)]);
  return ordered;
}

std::vector<int> ordered_cores() {
  const std::vector<int> cores = allowed_cores();
  std::vector<int> siblings;
  for (const int core : cores) siblings.push_back(physical_core(core));
  return order_by_physical_core(cores, siblings);
}

std::string pin_to_core(int core) {
  if (core < 0 || core >= kMostCores) return {};
  const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(kMostCores));
  const std::size_t size = CPU_ALLOC_SIZE(kMostCores);
  CPU_ZERO_S(size, set.get());
  CPU_SET_S(static_cast<std::size_t>(core), size, set.get());
  return ::sched_setaffinity(0, size, set.get()) == 0 ? std::to_string(core) : std::string();
}

}  // namespace ddbench::launch
