#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "core/number.h"
#include "probes/machine/machine.h"

namespace ddbench::host {
namespace {

constexpr std::string_view kUnknown = "unknown: ";

template <typename T>
std::string text_of(const Measured<T>& value) {
  if (!value) return std::string(kUnknown) + value.reason();
  return fmt::format("{}", *value);
}

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3ULL;
  return hash;
}

void add_network(const Machine& machine, Facts& out) {
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

std::string known(const Facts& machine, const std::string& name) {
  const auto found = machine.find(name);
  return found == machine.end() || found->second.starts_with(kUnknown) ? "unknown" : found->second;
}

/// One line each. Stored fingerprints are over this very text.
std::string decisive_lines(const Facts& machine) {
  std::string lines = fmt::format("cpu {}\ncores {}\ngovernor {}\n", known(machine, "cpu.model"),
                                  known(machine, "cpu.cores"), known(machine, "governor"));
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  const std::string bytes = known(machine, "memory.bytes");
  lines += bytes == "unknown"
               ? std::string("gib unknown\n")
               : fmt::format("gib {}\n", (number_from<std::int64_t>(bytes).value_or(0) + kGib / 2) / kGib);
  std::multiset<std::string> models;  // the bus decides the order, not the speed
  for (std::size_t i = 0; machine.contains(fmt::format("gpu.{}.model", i)); ++i) {
    models.insert(known(machine, fmt::format("gpu.{}.model", i)));
  }
  for (const std::string& model : models) lines += fmt::format("gpu {}\n", model);
  return lines;
}

}  // namespace

Facts facts(const Machine& machine) {
  Facts out = {
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

std::string fingerprint(std::span<const Facts> machines) {
  std::set<std::string> kinds;
  for (const Facts& machine : machines) kinds.insert(decisive_lines(machine));
  std::string all;
  for (const std::string& kind : kinds) all += kind;
  return fmt::format("{:016x}", hash_of(all));
}

std::string fingerprint(const Machine& machine) {
  const Facts told = facts(machine);
  return fingerprint(std::span(&told, 1));
}

std::string decisive_hardware(const Facts& machine) {
  std::string words;
  std::istringstream lines(decisive_lines(machine));
  for (std::string line; std::getline(lines, line);) words += (words.empty() ? "" : ", ") + line;
  return words;
}

}  // namespace ddbench::host
