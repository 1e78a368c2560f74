#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "core/facts/facts.h"
#include "core/text/number.h"
#include "probes/machine/machine.h"

namespace ddbench::host {
namespace {

constexpr std::string_view kUnknown = "unknown: ";

template <template <typename> typename Key, typename Value, typename T>
void put(Facts& out, const Key<Value>& key, const Measured<T>& value) {
  if (value)
    set_fact(out, key, *value);
  else
    out[std::string(key.name)] = std::string(kUnknown) + value.reason();
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
    set_fact(out, fact_key_of<"nic.*.state">(interface.name), interface.up ? "up" : "down");
    put(out, fact_key_of<"nic.*.mbit">(interface.name), interface.mbit);
  }
  for (const InfinibandPort& port : machine.infiniband) {
    set_fact(out, fact_key_of<"infiniband.*.*.state">(port.device, port.port), port.state);
    set_fact(out, fact_key_of<"infiniband.*.*.link_layer">(port.device, port.port), port.link_layer);
    put(out, fact_key_of<"infiniband.*.*.gbit">(port.device, port.port), port.gbit);
  }
}

std::string known(const Facts& machine, const std::string& name) {
  const auto found = machine.find(name);
  return found == machine.end() || found->second.starts_with(kUnknown) ? "unknown" : found->second;
}

std::int64_t rounded_gib(std::int64_t bytes) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  return bytes / kGib + (bytes % kGib >= kGib / 2 ? 1 : 0);
}

/// One line each. Stored fingerprints are over this very text.
std::string decisive_lines(const Facts& machine) {
  std::string lines = fmt::format("cpu {}\ncores {}\ngovernor {}\n", known(machine, "cpu.model"),
                                  known(machine, "cpu.cores"), known(machine, "governor"));
  const std::string bytes = known(machine, "memory.bytes");
  lines += bytes == "unknown"
               ? std::string("gib unknown\n")
               : fmt::format("gib {}\n", rounded_gib(number_from<std::int64_t>(bytes).value_or(0)));
  std::multiset<std::string> models;  // the bus decides the order, not the speed
  for (std::size_t i = 0; machine.contains(fmt::format("gpu.{}.model", i)); ++i) {
    models.insert(known(machine, fmt::format("gpu.{}.model", i)));
  }
  for (const std::string& model : models) lines += fmt::format("gpu {}\n", model);
  return lines;
}

}  // namespace

Facts facts(const Machine& machine) {
  Facts out;
  put(out, fact_key<"hostname">, machine.hostname);
  put(out, fact_key<"boot_id">, machine.boot_id);
  put(out, fact_key<"kernel">, machine.kernel);
  put(out, fact_key<"cpu.model">, machine.cpu_model);
  put(out, fact_key<"cpu.cores">, machine.cores);
  put(out, fact_key<"cpu.quota_cores">, machine.cpu_quota_cores);
  put(out, fact_key<"memory.bytes">, machine.memory_bytes);
  put(out, fact_key<"memory.available_bytes">, machine.available_memory_bytes);
  put(out, fact_key<"governor">, machine.governor);
  put(out, fact_key<"nvidia.driver">, machine.nvidia_driver);
  set_fact(out, fact_key<"gpu.count">, machine.gpus.size());
  for (std::size_t i = 0; i < machine.gpus.size(); ++i)
    put(out, fact_key_of<"gpu.*.model">(i), machine.gpus[i].model);
  add_network(machine, out);
  for (const auto& [soname, file] : machine.libraries) put(out, fact_key_of<"library.*">(soname), file);
  for (const auto& [name, file] : machine.commands) put(out, fact_key_of<"command.*">(name), file);
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
  const Facts of_machine = facts(machine);
  return fingerprint(std::span(&of_machine, 1));
}

std::string decisive_hardware(const Facts& machine) {
  std::string words;
  std::istringstream lines(decisive_lines(machine));
  for (std::string line; std::getline(lines, line);) words += (words.empty() ? "" : ", ") + line;
  return words;
}

}  // namespace ddbench::host
