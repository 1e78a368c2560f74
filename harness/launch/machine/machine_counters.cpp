#include "harness/launch/machine/machine_counters.h"
#include "core/facts/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace ddbench::launch {
namespace {

constexpr double kMuchStolen_percent = 5;  // from here on steps are visibly longer than the machine's own

void add_interfaces(const host::Counters& counted, Facts& facts) {
  for (const auto& [name, interface] : counted.interfaces) {
    if (name == "lo" || interface.sent_packets + interface.received_packets == 0) continue;
    set_fact(facts, fact_key_of<"nic.*.sent_bytes">(name), interface.sent_bytes);
    set_fact(facts, fact_key_of<"nic.*.received_bytes">(name), interface.received_bytes);
    set_count(facts, fact_key_of<"nic.*.errors">(name), interface.sent_errors + interface.received_errors);
    set_count(facts, fact_key_of<"nic.*.drops">(name), interface.sent_drops + interface.received_drops);
  }
  for (const auto& [port, values] : counted.infiniband) {
    for (const auto& [name, value] : values) set_count(facts, fact_key_of<"ib.*.*">(port, name), value);
  }
}

void add_processors(const host::ProcessorTicks& ticks, MachineCounts& counts) {
  const auto wanted = static_cast<double>(ticks.busy + ticks.stolen);
  const double stolen_percent = wanted > 0 ? 100 * static_cast<double>(ticks.stolen) / wanted : 0;
  set_fact(counts.facts, fact_key<"cpu.stolen_percent">, stolen_percent);
  if (stolen_percent <= kMuchStolen_percent) return;
  counts.notes.push_back(
      fmt::format("a hypervisor gave {:.0f}% of the processor time that this machine wanted to others: "
                  "steps are longer than on a quiet machine",
                  stolen_percent));
}

void add_clocks(const host::Counters& counted, Facts& facts) {
  const double core_time_ns =
      static_cast<double>(counted.at_ns) * std::max(1u, std::thread::hardware_concurrency());
  const auto throttled_percent =
      counted.throttled_ns
          ? Measured<double>(100 * static_cast<double>(*counted.throttled_ns) / std::max(core_time_ns, 1.0))
          : Measured<double>::missing(counted.throttled_ns.reason());
  set_fact(facts, fact_key<"cpu.throttled_percent">, throttled_percent);
  set_fact(facts, fact_key<"cpu.thermal_throttles">, counted.thermal_throttles);
  set_fact(facts, fact_key<"cpu.frequency_mhz">, host::read_frequency_mhz());
}

}  // namespace

MachineCounters::MachineCounters() : before_(host::read_counters()) {
  std::string why_not;  // on a machine without a GPU there is nothing to report
  if (auto nvml = cuda::open_nvml(why_not)) gpus_ = std::make_unique<cuda::GpuMonitor>(std::move(nvml));
}

MachineCounts MachineCounters::stop() {
  MachineCounts counts;
  host::Counters counted = host::difference(before_, host::read_counters());
  add_interfaces(counted, counts.facts);
  if (counted.processors) {
    add_processors(*counted.processors, counts);
  } else {
    set_fact(counts.facts, fact_key<"cpu.stolen_percent">,
             Measured<double>::missing(counted.processors.reason()));
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
