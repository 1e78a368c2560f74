#include "machine_meter.h"

#include <fmt/format.h>

#include <utility>

namespace ddbench::experiment {
namespace {

constexpr double kMuchStolen_percent = 5;  // from here on steps are visibly longer than the machine's own

double stolen_percent(const host::ProcessorTicks& ticks) {
  const auto wanted = static_cast<double>(ticks.busy + ticks.stolen);
  return wanted > 0 ? 100 * static_cast<double>(ticks.stolen) / wanted : 0;
}

}  // namespace

MachineMeter::MachineMeter() : before_(host::read_counters()) {
  std::string why_not;  // a machine without a GPU has nothing to tell of one
  if (auto nvml = cuda::open_nvml(why_not)) gpus_ = std::make_unique<cuda::GpuMonitor>(std::move(nvml));
}

std::map<std::string, std::string> MachineMeter::facts(double samples) {
  const host::Counters counted = host::difference(before_, host::read_counters());
  std::map<std::string, std::string> facts;
  if (gpus_ != nullptr) {
    for (auto& [name, value] : cuda::gpu_facts(gpus_->stop(), samples)) facts["counted." + name] = value;
  }
  for (const auto& [name, interface] : counted.interfaces) {
    if (name == "lo" || interface.sent_packets + interface.received_packets == 0) continue;
    const std::string prefix = fmt::format("counted.nic.{}.", name);
    facts[prefix + "sent_bytes"] = std::to_string(interface.sent_bytes);
    facts[prefix + "received_bytes"] = std::to_string(interface.received_bytes);
    const std::uint64_t errors = interface.sent_errors + interface.received_errors;
    const std::uint64_t drops = interface.sent_drops + interface.received_drops;
    if (errors != 0) facts[prefix + "errors"] = std::to_string(errors);
    if (drops != 0) facts[prefix + "drops"] = std::to_string(drops);
  }
  for (const auto& [port, values] : counted.infiniband) {
    for (const auto& [name, value] : values) {
      if (value != 0) facts[fmt::format("counted.ib.{}.{}", port, name)] = std::to_string(value);
    }
  }
  if (counted.processors) {
    stolen_percent_ = stolen_percent(*counted.processors);
    facts["counted.cpu.stolen_percent"] = fmt::format("{:.1f}", stolen_percent_);
  }
  counter_notes_ = counted.notes;
  return facts;
}

std::vector<std::string> MachineMeter::notes() {
  std::vector<std::string> notes;
  if (stolen_percent_ > kMuchStolen_percent) {
    notes.push_back(
        fmt::format("a hypervisor gave {:.0f} % of the processor time that this machine wanted to others: "
                    "steps are longer "
                    "than on a quiet machine",
                    stolen_percent_));
  }
  if (gpus_ == nullptr) return notes;
  for (std::string& note : cuda::gpu_notes(gpus_->stop())) notes.push_back(std::move(note));
  // Interfaces of emulated nodes come and go; what physical ones lack matters on machines with GPUs.
  notes.insert(notes.end(), counter_notes_.begin(), counter_notes_.end());
  return notes;
}

}  // namespace ddbench::experiment
