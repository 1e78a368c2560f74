#include "harness/launch/local/network_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/text/number.h"

namespace ddbench::launch {
namespace {

constexpr std::int64_t kGsoPacketBytes = 72 * 1024;
constexpr std::int64_t kBurstsPerSecond = 2000;
constexpr std::int64_t kQueue_ms = 20;
constexpr int kAddressesPerByte = 256;

}  // namespace

Shaping shaping_for(LinkRate rate) {
  return {rate.bits_per_s, std::max(kGsoPacketBytes, rate.bits_per_s / 8 / kBurstsPerSecond), kQueue_ms};
}

std::string node_address(int node) {
  return fmt::format("10.77.{}.{}", (node + 1) / kAddressesPerByte, (node + 1) % kAddressesPerByte);
}

std::string port_name(int node) {
  return fmt::format("node{}", node);
}

std::string bridge_commands(const std::vector<int>& node_namespace_fds) {
  std::string commands = "link add bridge0 type bridge\nlink set bridge0 up\n";
  for (std::size_t i = 0; i < node_namespace_fds.size(); ++i) {
    const std::string port = port_name(static_cast<int>(i));
    // A path, not a process id or a name: ip would look for a name in the host's /run/netns first.
    commands += fmt::format("link add {} type veth peer name eth0 netns /proc/self/fd/{}\n", port,
                            node_namespace_fds[i]);
    commands += fmt::format("link set {} master bridge0 up\n", port);
  }
  return commands;
}

std::string node_commands(int node) {
  const std::string address = node_address(node);
  return fmt::format(
      "link set lo up\naddress add {0}/16 dev eth0 noprefixroute\nlink set eth0 up\n"
      "route add 10.77.0.0/16 dev eth0 src {0} congctl reno\n",
      address);
}

std::string shaping_command(const std::string& device, const Shaping& shaping) {
  return fmt::format("qdisc replace dev {} root tbf rate {}bit burst {}b latency {}ms\n", device,
                     shaping.rate_bits_per_s, shaping.burst_bytes, shaping.latency_ms);
}

std::optional<LinkRate> rate_from_qdisc(const std::string& line) {
  const std::size_t begin = line.find(" rate ");
  if (!line.starts_with("qdisc tbf ") || begin == std::string::npos) return std::nullopt;
  const auto number = leading_number<std::int64_t>(std::string_view(line).substr(begin + 6));
  if (!number || number->rest.empty()) return std::nullopt;
  switch (number->rest.front()) {
    case 'K': return LinkRate{number->value * 1'000};
    case 'M': return LinkRate{number->value * 1'000'000};
    case 'G': return LinkRate{number->value * 1'000'000'000};
    case 'b': return LinkRate{number->value};
    default: return std::nullopt;
  }
}

std::string congestion_control_of(const std::string& routes) {
  constexpr std::string_view kMark = " congctl ";
  const std::size_t mark = routes.find(kMark);
  if (mark == std::string::npos) return "";
  const std::size_t begin = mark + kMark.size();
  return routes.substr(begin, routes.find_first_of(" \n", begin) - begin);
}

std::int64_t dropped_packets(const std::string& qdisc_statistics) {
  constexpr std::string_view kMark = "(dropped ";
  std::int64_t sum = 0;
  for (std::size_t at = qdisc_statistics.find(kMark); at != std::string::npos;
       at = qdisc_statistics.find(kMark, at)) {
    at += kMark.size();
    const auto count = leading_number<std::int64_t>(std::string_view(qdisc_statistics).substr(at));
    if (count) sum += count->value;
  }
  return sum;
}

}  // namespace ddbench::launch
