#include "probes/machine/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

#include "core/text/number.h"
#include "probes/machine/cgroup.h"
#include "probes/machine/kernel_files.h"
#include "probes/machine/machine_devices.h"

namespace ddbench::host {
namespace {

namespace fs = std::filesystem;

Measured<std::string> read_cpu_model(const fs::path& root) {
  const Measured<std::string> text = read_text(root / "proc/cpuinfo");
  if (!text) return text;
  if (const auto model = field(*text, "model name")) return std::string(*model);
  const auto implementer = field(*text, "CPU implementer");
  const auto part = field(*text, "CPU part");
  if (implementer && part) return fmt::format("ARM implementer {} part {}", *implementer, *part);
  return Measured<std::string>::missing("/proc/cpuinfo names no model");
}

/// Online cores in the affinity of this process.
Measured<std::vector<int>> read_allowed_cores(const fs::path& root) {
  using Cores = Measured<std::vector<int>>;
  const Measured<std::string> status = read_text(root / "proc/self/status");
  if (!status) return Cores::missing(status.reason());
  const auto list = field(*status, "Cpus_allowed_list");
  if (!list) return Cores::missing("/proc/self/status has no Cpus_allowed_list");
  std::vector<int> cores = parse_core_list(*list);
  if (const Measured<std::string> online_list = read_text(root / "sys/devices/system/cpu/online")) {
    const std::vector<int> online = parse_core_list(*online_list);
    std::erase_if(cores,
                  [&](int core) { return std::find(online.begin(), online.end(), core) == online.end(); });
  }
  if (cores.empty()) return Cores::missing(fmt::format("no core of \"{}\" is online", *list));
  return cores;
}

Measured<int> usable_cores(const Measured<std::vector<int>>& allowed, const Measured<double>& quota) {
  if (!allowed) return Measured<int>::missing(allowed.reason());
  const int count = static_cast<int>((*allowed).size());
  if (!quota) return count;
  return std::clamp(static_cast<int>(std::floor(*quota)), 1, count);
}

Measured<std::string> read_governor(const fs::path& root, const std::vector<int>& cores) {
  std::set<std::string> governors;
  for (const int core : cores) {
    const auto text =
        read_text(root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", core));
    if (text) governors.insert(*text);
  }
  if (governors.empty()) {
    return Measured<std::string>::missing("the kernel shows no cpufreq, as is usual in a virtual machine");
  }
  if (governors.size() == 1) return *governors.begin();
  return fmt::format("mixed: {}", fmt::join(governors, ", "));
}

Measured<std::int64_t> meminfo_bytes(const Measured<std::string>& meminfo, std::string_view key) {
  if (!meminfo) return Measured<std::int64_t>::missing(meminfo.reason());
  const auto text = field(*meminfo, key);
  const std::vector<std::string_view> parts = words(text.value_or(""));
  const auto kib = parts.empty() ? std::nullopt : number_from<std::int64_t>(parts[0]);
  if (!kib) return Measured<std::int64_t>::missing(fmt::format("/proc/meminfo has no {}", key));
  return *kib * 1024;
}

Measured<std::int64_t> tighter(const Measured<std::int64_t>& machine, const Measured<std::int64_t>& cgroup) {
  if (!machine || !cgroup) return machine ? machine : cgroup ? cgroup : machine;
  return std::min(*machine, *cgroup);
}

}  // namespace

Machine inspect_hardware(const fs::path& root) {
  Machine machine;
  machine.hostname = read_text(root / "proc/sys/kernel/hostname");
  machine.boot_id = read_text(root / "proc/sys/kernel/random/boot_id");
  machine.kernel = read_text(root / "proc/sys/kernel/osrelease");

  const CgroupLimits limits = read_cgroup_limits(root);
  const Measured<std::vector<int>> allowed = read_allowed_cores(root);
  machine.cpu_model = read_cpu_model(root);
  machine.cpu_quota_cores = limits.cpu_cores;
  machine.cores = usable_cores(allowed, limits.cpu_cores);
  machine.governor = read_governor(root, allowed.value_or({}));

  const Measured<std::string> meminfo = read_text(root / "proc/meminfo");
  machine.memory_bytes = tighter(meminfo_bytes(meminfo, "MemTotal"), limits.memory_bytes);
  machine.available_memory_bytes =
      tighter(meminfo_bytes(meminfo, "MemAvailable"), limits.available_memory_bytes);

  machine.interfaces = read_interfaces(root);
  machine.infiniband = read_infiniband(root);
  machine.nvidia_driver = read_nvidia_driver(root);
  machine.gpus = read_nvidia_gpus(root);
  return machine;
}

Machine inspect_machine(const fs::path& root) {
  Machine machine = inspect_hardware(root);
  for (const char* soname : {"libcuda.so.1", "libnccl.so.2", "libnvidia-ml.so.1", "libmpi.so.40",
                             "libgloo.so.0", "libdnnl.so.2", "libdnnl.so.3"}) {
    machine.libraries.emplace(soname, find_library(soname));
  }
  const char* path = std::getenv("PATH");
  for (const char* command : {"srun", "mpirun"}) {
    machine.commands.emplace(command, find_command(command, path != nullptr ? path : ""));
  }
  return machine;
}

}  // namespace ddbench::host
