#include <fmt/format.h>

#include <set>

#include "ddbench/host/machine.h"

namespace ddbench::host {
namespace {

template <typename T>
std::string text_of(const Measured<T>& value) {
  if (!value) return "unknown: " + value.reason();
  return fmt::format("{}", *value);
}

template <typename T>
std::string text_or_unknown(const Measured<T>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ULL;
  return hash;
}

void add_network(const Machine& machine, std::map<std::string, std::string>& out) {
  for (const NetworkInterface& interface : machine.interfaces) {
    if (!interface.up && !interface.physical) continue;
    out[fmt::format("nic.{}.state", interface.name)] = interface.up ? "up" : "down";
    out[fmt::format("nic.{}.mbit", interface.name)] = text_of(interface.mbit);
  }
  for (const InfinibandPort& port : machine.infiniband) {
    const std::string prefix = fmt::format("infiniband.{}.{}", port.device, port.port);
    out[prefix + ".state"] = port.state;
    out[prefix + ".link_layer"] = port.link_layer;
    out[prefix + ".gbit"] = text_of(port.gbit);
  }
}

}  // namespace

std::map<std::string, std::string> facts(const Machine& machine) {
  std::map<std::string, std::string> out = {
      {"hostname", text_of(machine.hostname)},
      {"boot_id", text_of(machine.boot_id)},
      {"kernel", text_of(machine.kernel)},
      {"cpu.model", text_of(machine.cpu_model)},
      {"cpu.cores", text_of(machine.cores)},
      {"cpu.quota_cores", text_of(machine.cpu_quota_cores)},
      {"memory.bytes", text_of(machine.memory_bytes)},
      {"memory.available_bytes", text_of(machine.available_memory_bytes)},
      {"governor", text_of(machine.governor)},
      {"nvidia.driver", text_of(machine.nvidia_driver)},
      {"gpu.count", fmt::format("{}", machine.gpus.size())},
  };
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    out[fmt::format("gpu.{}.model", i)] = text_of(machine.gpus[i].model);
  }
  add_network(machine, out);
  for (const auto& [soname, file] : machine.libraries) out["library." + soname] = text_of(file);
  for (const auto& [name, file] : machine.commands) out["command." + name] = text_of(file);
  return out;
}

std::string fingerprint(const Machine& machine) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  std::string decisive = fmt::format("cpu {}\ncores {}\ngovernor {}\n", text_or_unknown(machine.cpu_model),
                                     text_or_unknown(machine.cores), text_or_unknown(machine.governor));
  decisive += machine.memory_bytes ? fmt::format("gib {}\n", (*machine.memory_bytes + kGib / 2) / kGib)
                                   : std::string("gib unknown\n");
  std::multiset<std::string> models;  // the bus decides the order, not the speed
  for (const Gpu& gpu : machine.gpus) models.insert(text_or_unknown(gpu.model));
  for (const std::string& model : models) decisive += fmt::format("gpu {}\n", model);
  return fmt::format("{:016x}", hash_of(decisive));
}

}  // namespace ddbench::host
