#include "harness/launch/machine/machine_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace ddbench::launch {
namespace {

constexpr double kMuchStolen_percent = 5;  // from here on steps are visibly longer than the machine's own

using Facts = std::map<std::string, std::string>;

void add_interfaces(const host::Counters& counted, Facts& facts) {
  for (const auto& [name, interface] : counted.interfaces) {
    if (name == "lo" || interface.sent_packets + interface.received_packets == 0) continue;
    const std::string prefix = fmt::format("nic.{}.", name);
    facts[prefix + "sent_bytes"] = std::to_string(interface.sent_bytes);
    facts[prefix + "received_bytes"] = std::to_string(interface.received_bytes);
    const std::uint64_t errors = interface.sent_errors + interface.received_errors;
    const std::uint64_t drops = interface.sent_drops + interface.received_drops;
    if (errors != 0) facts[prefix + "errors"] = std::to_string(errors);
    if (drops != 0) facts[prefix + "drops"] = std::to_string(drops);
  }
  for (const auto& [port, values] : counted.infiniband) {
    for (const auto& [name, value] : values) {
      if (value != 0) facts[fmt::format("ib.{}.{}", port, name)] = std::to_string(value);
    }
  }
}

void add_processors(const host::ProcessorTicks& ticks, MachineCounts& counts) {
  const auto wanted = static_cast<double>(ticks.busy + ticks.stolen);
  const double stolen_percent = wanted > 0 ? 100 * static_cast<double>(ticks.stolen) / wanted : 0;
  counts.facts["cpu.stolen_percent"] = fmt::format("{:.1f}", stolen_percent);
  if (stolen_percent <= kMuchStolen_percent) return;
  counts.notes.push_back(
      fmt::format("a hypervisor gave {:.0f} % of the processor time that this machine wanted to others: "
                  "steps are longer than on a quiet machine",
                  stolen_percent));
}

template <typename T, typename Write>
void add_fact(const char* name, const Measured<T>& value, Facts& facts, Write write) {
  facts[name] = value ? write(*value) : "not measured: " + value.reason();
}

void add_clocks(const host::Counters& counted, Facts& facts) {
  const double core_time_ns =
      static_cast<double>(counted.at_ns) * std::max(1u, std::thread::hardware_concurrency());
  add_fact("cpu.throttled_percent", counted.throttled_ns, facts, [&](std::int64_t throttled_ns) {
    return fmt::format("{:.1f}", 100 * static_cast<double>(throttled_ns) / std::max(core_time_ns, 1.0));
  });
  add_fact("cpu.thermal_throttles", counted.thermal_throttles, facts,
           [](std::uint64_t count) { return std::to_string(count); });
  add_fact("cpu.frequency_mhz", host::read_frequency_mhz(), facts,
           [](double mhz) { return fmt::format("{:.0f}", mhz); });
}

}  // namespace

MachineMeter::MachineMeter() : before_(host::read_counters()) {
  std::string why_not;  // a machine without a GPU has nothing to tell of one
  if (auto nvml = cuda::open_nvml(why_not)) gpus_ = std::make_unique<cuda::GpuMonitor>(std::move(nvml));
}

MachineCounts MachineMeter::stop() {
  MachineCounts counts;
  host::Counters counted = host::difference(before_, host::read_counters());
  add_interfaces(counted, counts.facts);
  if (counted.processors) {
    add_processors(*counted.processors, counts);
  } else {
    counts.facts["cpu.stolen_percent"] = "not measured: " + counted.processors.reason();
  }
  add_clocks(counted, counts.facts);
  if (gpus_ == nullptr) return counts;
  counts.facts.merge(cuda::gpu_facts(gpus_->stop()));
  for (std::string& note : cuda::gpu_notes(gpus_->stop())) counts.notes.push_back(std::move(note));
  // Interfaces of emulated nodes come and go; what physical ones lack matters on machines with GPUs.
  counts.notes.insert(counts.notes.end(), counted.notes.begin(), counted.notes.end());
  return counts;
}

}  // namespace ddbench::launch
