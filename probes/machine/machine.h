#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/facts/facts.h"
#include "core/measured.h"

namespace ddbench::host {

struct NetworkInterface {
  std::string name;
  bool up = false;
  bool physical = false;  ///< backed by a (possibly virtual) device; false for veth, bridges, tunnels
  Measured<std::int64_t> mbit = Measured<std::int64_t>::missing("not inspected");
};

struct InfinibandPort {
  std::string device;  ///< "mlx5_0"
  int port = 1;
  std::string state;       ///< "ACTIVE", "DOWN", ...
  std::string link_layer;  ///< "InfiniBand", or "Ethernet" for RoCE
  Measured<double> gbit = Measured<double>::missing("not inspected");
};

struct Gpu {
  std::string bus_id;  ///< "0000:01:00.0"
  Measured<std::string> model = Measured<std::string>::missing("not inspected");
};

/// The properties of this machine as its kernel reports them. Unknown properties carry the reason.
struct Machine {
  using Text = Measured<std::string>;

  Text hostname = Text::missing("not inspected");
  Text boot_id = Text::missing("not inspected");  ///< equal for processes that share one CLOCK_MONOTONIC
  Text kernel = Text::missing("not inspected");   ///< release
  Text cpu_model = Text::missing("not inspected");
  /// Logical cores that this process may use: affinity and online cores, cut by the cgroup's quota (rounded
  /// down, 1 or more).
  Measured<int> cores = Measured<int>::missing("not inspected");
  Measured<double> cpu_quota_cores = Measured<double>::missing("not inspected");  ///< of the cgroup
  /// Total and available memory; both are those of the cgroup where it has the tighter limit.
  Measured<std::int64_t> memory_bytes = Measured<std::int64_t>::missing("not inspected");
  Measured<std::int64_t> available_memory_bytes = Measured<std::int64_t>::missing("not inspected");
  Text governor = Text::missing("not inspected");  ///< cpufreq; "mixed: a, b" when cores differ
  std::vector<NetworkInterface> interfaces;        ///< without loopback, by name
  std::vector<InfinibandPort> infiniband;
  Text nvidia_driver = Text::missing("not inspected");
  std::vector<Gpu> gpus;                  ///< all of the host, even those that a container may not use
  std::map<std::string, Text> libraries;  ///< soname -> the file that dlopen loads for it
  std::map<std::string, Text> commands;   ///< "srun", "mpirun" -> path
};

/// Reads /proc and /sys below `root` (tests supply fixture trees). Libraries and commands are those of this
/// process. Does not throw for missing entries.
Machine inspect_machine(const std::filesystem::path& root = "/");
/// The same without libraries and commands: loads nothing into this process.
Machine inspect_hardware(const std::filesystem::path& root = "/");

/// The file behind `soname`, or the dynamic linker's words for why it cannot be loaded. Loads it, with its
/// symbols kept from others; it stays loaded.
Measured<std::string> find_library(const std::string& soname);
/// The first executable file `name` in the directories of `path` (colons between them, as PATH).
Measured<std::string> find_command(const std::string& name, std::string_view path);

/// The facts of core/facts about the machine. A value that cannot be known is "unknown: <reason>". Interfaces
/// that are neither up nor physical are left out.
using ddbench::Facts;
Facts facts(const Machine& machine);

/// 16 hex digits over the properties that determine speed and are stable from run to run: CPU model, cores,
/// memory rounded to GiB, GPUs, governor. Excludes host name, free memory, kernel build and boot id. For
/// several machines, each kind of machine counts once: identical machines have the fingerprint of one.
std::string fingerprint(std::span<const Facts> machines);
std::string fingerprint(const Machine& machine);
/// The values that fingerprint() is over, in words: "cpu AMD EPYC 7763, cores 64, governor performance, ...".
std::string decisive_hardware(const Facts& machine);

}  // namespace ddbench::host
