#include "probes/machine/machine_devices.h"

#include <cctype>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/text/number.h"
#include "probes/machine/kernel_files.h"

namespace ddbench::host {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLoopbackType = 772;  // ARPHRD_LOOPBACK

Measured<std::int64_t> link_mbit(const fs::path& interface, bool up) {
  if (!up) return Measured<std::int64_t>::missing("the interface is down");
  const Measured<std::int64_t> speed = read_number(interface / "speed");
  if (speed && *speed > 0) return speed;
  return Measured<std::int64_t>::missing("its driver does not report the link speed");
}

/// "200 Gb/sec (4X HDR)" -> 200
Measured<double> port_gbit(const fs::path& port) {
  const Measured<std::string> rate = read_text(port / "rate");
  if (!rate) return Measured<double>::missing(rate.reason());
  const std::vector<std::string_view> parts = words(*rate);
  const std::optional<double> gbit = number_from<double>(parts[0]);
  if (gbit && parts.size() > 1 && parts[1] == "Gb/sec") return *gbit;
  return Measured<double>::missing("the kernel reports the rate as \"" + *rate + '"');
}

/// "4: ACTIVE" -> "ACTIVE"
std::string port_state(const fs::path& port) {
  const std::string state = read_text(port / "state").value_or("unknown");
  const std::size_t colon = state.find(':');
  return colon == std::string::npos ? state : std::string(trimmed(std::string_view(state).substr(colon + 1)));
}

bool is_version(std::string_view word) {
  return word.find('.') != std::string_view::npos &&
         word.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

std::vector<NetworkInterface> read_interfaces(const fs::path& root) {
  std::vector<NetworkInterface> found;
  const fs::path directory = root / "sys/class/net";
  for (const std::string& name : list_names(directory)) {
    const fs::path interface = directory / name;
    const Measured<std::int64_t> type = read_number(interface / "type");
    if (!type || *type == kLoopbackType) continue;  // bonding_masters is a file here, not an interface
    NetworkInterface entry;
    entry.name = name;
    const std::string state = read_text(interface / "operstate").value_or("unknown");
    // Drivers that do not track the state report "unknown" while they work; then the carrier decides.
    entry.up = state == "up" || (state == "unknown" && read_number(interface / "carrier").value_or(0) == 1);
    std::error_code error;
    entry.physical = fs::exists(interface / "device", error);
    entry.mbit = link_mbit(interface, entry.up);
    found.push_back(std::move(entry));
  }
  return found;
}

std::vector<InfinibandPort> read_infiniband(const fs::path& root) {
  std::vector<InfinibandPort> found;
  const fs::path directory = root / "sys/class/infiniband";
  for (const std::string& device : list_names(directory)) {
    for (const std::string& number : list_names(directory / device / "ports")) {
      const fs::path port = directory / device / "ports" / number;
      InfinibandPort entry;
      entry.device = device;
      entry.port = number_from<int>(number).value_or(0);
      entry.state = port_state(port);
      entry.link_layer = read_text(port / "link_layer").value_or("unknown");
      entry.gbit = port_gbit(port);
      found.push_back(std::move(entry));
    }
  }
  return found;
}

Measured<std::string> read_nvidia_driver(const fs::path& root) {
  const fs::path file = root / "proc/driver/nvidia/version";
  std::error_code error;
  if (!fs::exists(file, error)) return Measured<std::string>::missing("no NVIDIA driver is loaded");
  const Measured<std::string> text = read_text(file);
  if (!text) return text;
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 ...", and other words for the
  // open one.
  for (const std::string_view word : words(split(*text, '\n').front())) {
    if (is_version(word)) return std::string(word);
  }
  return Measured<std::string>::missing(file.string() + " names no version");
}

std::vector<Gpu> read_nvidia_gpus(const fs::path& root) {
  std::vector<Gpu> found;
  const fs::path directory = root / "proc/driver/nvidia/gpus";
  for (const std::string& bus_id : list_names(directory)) {
    Gpu gpu;
    gpu.bus_id = bus_id;
    const Measured<std::string> text = read_text(directory / bus_id / "information");
    const std::optional<std::string_view> model = text ? field(*text, "Model") : std::nullopt;
    gpu.model = model
                    ? Measured<std::string>(std::string(*model))
                    : Measured<std::string>::missing(text ? "its information names no model" : text.reason());
    found.push_back(std::move(gpu));
  }
  return found;
}

}  // namespace ddbench::host
