#include "probes/machine/counters.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/clock.h"
#include "core/text/number.h"
#include "probes/machine/cgroup.h"
#include "probes/machine/kernel_files.h"

namespace ddbench::host {
namespace {

namespace fs = std::filesystem;
using PortCounters = std::map<std::string, std::uint64_t>;

std::map<std::string, InterfaceCounters> read_interface_counters(const fs::path& root) {
  std::map<std::string, InterfaceCounters> found;
  const std::string text = read_text(root / "proc/net/dev").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.rfind(':');  // an alias such as eth0:1 has one of its own
    if (colon == std::string_view::npos) continue;
    std::vector<std::uint64_t> columns;
    for (const std::string_view word : words(line.substr(colon + 1))) {
      columns.push_back(number_from<std::uint64_t>(word).value_or(0));
    }
    if (columns.size() < 12) continue;
    found.emplace(trimmed(line.substr(0, colon)),
                  InterfaceCounters{columns[0], columns[1], columns[2], columns[3], columns[8], columns[9],
                                    columns[10], columns[11]});
  }
  return found;
}

PortCounters read_port_counters(const fs::path& directory) {
  PortCounters found;
  for (const std::string& name : list_names(directory)) {
    const Measured<std::string> text = read_text(directory / name);
    const auto value = text ? number_from<std::uint64_t>(*text) : std::nullopt;
    if (!value) continue;
    if (name == "port_xmit_data" || name == "port_rcv_data") {
      found[name == "port_xmit_data" ? "port_xmit_bytes" : "port_rcv_bytes"] = *value * 4;
    } else {
      found[name] = *value;
    }
  }
  return found;
}

std::map<std::string, PortCounters> read_infiniband_counters(const fs::path& root) {
  std::map<std::string, PortCounters> found;
  const fs::path directory = root / "sys/class/infiniband";
  for (const std::string& device : list_names(directory)) {
    for (const std::string& port : list_names(directory / device / "ports")) {
      PortCounters counters = read_port_counters(directory / device / "ports" / port / "counters");
      if (!counters.empty()) found.emplace(fmt::format("{}/{}", device, port), std::move(counters));
    }
  }
  return found;
}

Measured<std::uint64_t> read_tcp_retransmits(const fs::path& root) {
  const Measured<std::string> text = read_text(root / "proc/net/snmp");
  if (!text) return Measured<std::uint64_t>::missing(text.reason());
  std::vector<std::string_view> names;
  for (const std::string_view line : split(*text, '\n')) {
    if (!line.starts_with("Tcp:")) continue;
    const std::vector<std::string_view> columns = words(line);
    const auto column = std::find(names.begin(), names.end(), "RetransSegs") - names.begin();
    if (column < std::min(std::ssize(names), std::ssize(columns))) {
      if (const auto value = number_from<std::uint64_t>(columns[column])) return *value;
    }
    names = columns;
  }
  return Measured<std::uint64_t>::missing("/proc/net/snmp has no RetransSegs");
}

Measured<ProcessorTicks> read_processors(const fs::path& root) {
  const Measured<std::string> text = read_text(root / "proc/stat");
  if (!text) return Measured<ProcessorTicks>::missing(text.reason());
  const std::vector<std::string_view> columns = words(split(*text, '\n').front());
  enum { kUser = 1, kNice, kSystem, kIdle, kWait, kInterrupts, kSoftInterrupts, kStolen, kColumns };
  if (columns.size() < kColumns || columns.front() != "cpu") {
    return Measured<ProcessorTicks>::missing("/proc/stat does not report steal time");
  }
  const auto ticks = [&](int column) {
    return number_from<std::uint64_t>(columns[static_cast<std::size_t>(column)]).value_or(0);
  };
  return ProcessorTicks{
      ticks(kUser) + ticks(kNice) + ticks(kSystem) + ticks(kInterrupts) + ticks(kSoftInterrupts),
      ticks(kStolen)};
}

/// For each "cpu<n>", the number in the file below it.
std::vector<std::int64_t> numbers_of_cores(const fs::path& root, const fs::path& file) {
  std::vector<std::int64_t> numbers;
  const fs::path directory = root / "sys/devices/system/cpu";
  for (const std::string& name : list_names(directory)) {
    if (!name.starts_with("cpu") || !number_from<int>(std::string_view(name).substr(3))) continue;
    if (const Measured<std::int64_t> number = read_number(directory / name / file))
      numbers.push_back(*number);
  }
  return numbers;
}

Measured<std::uint64_t> read_thermal_throttles(const fs::path& root) {
  const std::vector<std::int64_t> counts = numbers_of_cores(root, "thermal_throttle/core_throttle_count");
  if (counts.empty()) return Measured<std::uint64_t>::missing("the kernel counts no thermal throttling");
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

Measured<std::int64_t> read_peak_memory(const fs::path& root) {
  const Measured<std::string> status = read_text(root / "proc/self/status");
  if (!status) return Measured<std::int64_t>::missing(status.reason());
  const std::vector<std::string_view> parts = words(field(*status, "VmHWM").value_or(""));
  const auto kib = parts.empty() ? std::nullopt : number_from<std::int64_t>(parts[0]);
  if (!kib) return Measured<std::int64_t>::missing("/proc/self/status has no VmHWM");
  return *kib * 1024;
}

/// Subtracts value by value; nothing when one went backwards: the counters started anew in between.
std::optional<PortCounters> subtract(const PortCounters& before, const PortCounters& after) {
  PortCounters result;
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (earlier == before.end()) continue;
    if (value < earlier->second) return std::nullopt;
    result.emplace(name, value - earlier->second);
  }
  return result;
}

std::optional<InterfaceCounters> subtract(const InterfaceCounters& before, const InterfaceCounters& after) {
  InterfaceCounters result;
  for (const auto member : {&InterfaceCounters::received_bytes, &InterfaceCounters::received_packets,
                            &InterfaceCounters::received_errors, &InterfaceCounters::received_drops,
                            &InterfaceCounters::sent_bytes, &InterfaceCounters::sent_packets,
                            &InterfaceCounters::sent_errors, &InterfaceCounters::sent_drops}) {
    if (after.*member < before.*member) return std::nullopt;
    result.*member = after.*member - before.*member;
  }
  return result;
}

template <typename T>
void subtract_all(const std::map<std::string, T>& before, const std::map<std::string, T>& after,
                  std::map<std::string, T>& result, std::vector<std::string>& notes) {
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (earlier == before.end()) {
      notes.push_back(fmt::format("{} appeared between the readings: not counted", name));
    } else if (const std::optional<T> counted = subtract(earlier->second, value)) {
      result.emplace(name, *counted);
    } else {
      notes.push_back(fmt::format("the counters of {} were reset between the readings: not counted", name));
    }
  }
  for (const auto& [name, value] : before) {
    if (!after.contains(name)) {
      notes.push_back(fmt::format("{} disappeared between the readings: not counted", name));
    }
  }
}

template <typename T>
Measured<T> subtract(const Measured<T>& before, const Measured<T>& after) {
  if (!before) return before;
  if (!after) return after;
  if (*after < *before) return Measured<T>::missing("the counter was reset between the readings");
  return *after - *before;
}

Measured<ProcessorTicks> subtract(const Measured<ProcessorTicks>& before,
                                  const Measured<ProcessorTicks>& after) {
  if (!before) return before;
  if (!after) return after;
  // The kernel lets none of them go backwards but where a machine was moved.
  if (after->busy < before->busy || after->stolen < before->stolen) {
    return Measured<ProcessorTicks>::missing("the counter was reset between the readings");
  }
  return ProcessorTicks{after->busy - before->busy, after->stolen - before->stolen};
}

}  // namespace

Counters read_counters(const fs::path& root) {
  Counters counters;
  counters.at_ns = now_ns();
  counters.interfaces = read_interface_counters(root);
  counters.infiniband = read_infiniband_counters(root);
  counters.processors = read_processors(root);
  counters.throttled_ns = read_throttled_ns(root);
  counters.thermal_throttles = read_thermal_throttles(root);
  counters.tcp_retransmitted_segments = read_tcp_retransmits(root);
  counters.peak_memory_bytes = read_peak_memory(root);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  counters.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
  counters.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  return counters;
}

Measured<double> read_frequency_mhz(const fs::path& root) {
  std::vector<double> rates;
  for (const std::int64_t khz : numbers_of_cores(root, "cpufreq/scaling_cur_freq"))
    rates.push_back(static_cast<double>(khz) / 1e3);
  const std::string text = rates.empty() ? read_text(root / "proc/cpuinfo").value_or("") : std::string();
  for (const std::string_view line : split(text, '\n')) {
    const auto mhz = number_from<double>(field(line, "cpu MHz").value_or(""));
    if (mhz) rates.push_back(*mhz);
  }
  if (rates.empty()) return Measured<double>::missing("the kernel does not show the clock rate");
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

Counters difference(const Counters& before, const Counters& after) {
  Counters result;
  result.at_ns = after.at_ns - before.at_ns;
  subtract_all(before.interfaces, after.interfaces, result.interfaces, result.notes);
  subtract_all(before.infiniband, after.infiniband, result.infiniband, result.notes);
  result.processors = subtract(before.processors, after.processors);
  result.throttled_ns = subtract(before.throttled_ns, after.throttled_ns);
  result.thermal_throttles = subtract(before.thermal_throttles, after.thermal_throttles);
  result.tcp_retransmitted_segments =
      subtract(before.tcp_retransmitted_segments, after.tcp_retransmitted_segments);
  result.peak_memory_bytes = after.peak_memory_bytes;
  result.voluntary_switches = after.voluntary_switches - before.voluntary_switches;
  result.involuntary_switches = after.involuntary_switches - before.involuntary_switches;
  return result;
}

}  // namespace ddbench::host
