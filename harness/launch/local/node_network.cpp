#include "harness/launch/local/node_network.h"

#include <fmt/format.h>
#include <sched.h>

#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/facts/facts.h"
#include "harness/launch/local/namespaces.h"
#include "harness/launch/local/network_plan.h"
#include "harness/launch/machine/run_command.h"

namespace ddbench::launch {
namespace {

constexpr double kCutOffByTc = 0.001;

std::string first_line_of(const char* file) {
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  return line;
}

/// Bytes that `eth0` of a namespace has sent.
std::int64_t sent_bytes(int network_namespace) {
  const UniqueFd home = current_network_namespace();
  check_posix(::setns(network_namespace, CLONE_NEWNET), "setns", ErrorCode::kEnvironment);
  std::int64_t bytes = 0;
  std::ifstream devices("/proc/thread-self/net/dev");
  for (std::string line; std::getline(devices, line);) {
    std::istringstream words(line);
    std::string device;
    words >> device;
    if (device != "eth0:") continue;
    std::int64_t column = 0;
    for (int i = 0; i < 9 && words >> column; ++i) {  // skip the 8 columns of received traffic
    }
    bytes = column;
  }
  check_posix(::setns(home.get(), CLONE_NEWNET), "setns", ErrorCode::kEnvironment);
  return bytes;
}

}  // namespace

int NodeNetwork::namespace_of(int node) const noexcept {
  return nodes_.empty() ? -1 : nodes_[static_cast<std::size_t>(node)].get();
}

NodeNetwork::Facts NodeNetwork::set_up() {
  Facts facts;
  set_fact(facts, fact_key<"network.tcp_congestion_control">,
           first_line_of("/proc/sys/net/ipv4/tcp_congestion_control"));
  if (!has_own_network(isolation_)) return facts;
  bring_loopback_up();
  if (isolation_ == Isolation::kPrivate) return facts;
  join_nodes();
  const std::string routes = run_tool({{"ip", "route", "show"}, {}, nodes_.front().get(), {}});
  set_fact(facts, fact_key<"network.tcp_congestion_control">, congestion_control_of(routes));
  set_fact(facts, fact_key<"network.nodes">,
           fmt::format("{} namespaces, veth pairs and a bridge on one machine", plan_.nodes));
  if (!plan_.shapes_links()) return facts;
  shape_links();
  const ToolCall show{{"tc", "qdisc", "show"}, {}, -1, {}};
  const std::string ports = run_tool(show);
  prove_rates(ports);
  if (!plan_.link) return facts;
  set_fact(facts, fact_key<"network.link_rate">, to_string(*plan_.link));
  const std::size_t begin = ports.find("qdisc tbf");
  set_fact(facts, fact_key<"network.link_qdisc">, ports.substr(begin, ports.find(" \n", begin) - begin));
  return facts;
}

void NodeNetwork::join_nodes() {
  std::vector<int> fds;
  for (int node = 0; node < plan_.nodes; ++node) {
    nodes_.push_back(make_network_namespace());
    fds.push_back(nodes_.back().get());
  }
  run_tool({{"ip", "-batch", "-"}, bridge_commands(fds), -1, fds});
  for (int node = 0; node < plan_.nodes; ++node) {
    run_tool({{"ip", "-batch", "-"}, node_commands(node), namespace_of(node), {}});
  }
}

void NodeNetwork::shape_links() {
  std::string ports;
  for (int node = 0; node < plan_.nodes; ++node) {
    if (!plan_.link_of(node)) continue;
    const Shaping shaping = shaping_for(*plan_.link_of(node));
    ports += shaping_command(port_name(node), shaping);
    run_tool({{"tc", "-batch", "-"}, shaping_command("eth0", shaping), namespace_of(node), {}});
  }
  run_tool({{"tc", "-batch", "-"}, ports, -1, {}});
}

void NodeNetwork::prove_rates(const std::string& ports) const {
  std::map<LinkRate, std::size_t, decltype([](LinkRate a, LinkRate b) { return a.bits_per_s < b.bits_per_s; })> asked;
  for (int node = 0; node < plan_.nodes; ++node) {
    const std::optional<LinkRate> rate = plan_.link_of(node);
    if (!rate) continue;
    ++asked[*rate];
    prove_rate(run_tool({{"tc", "qdisc", "show"}, {}, namespace_of(node), {}}), *rate, 1);
  }
  for (const auto& [rate, links] : asked) prove_rate(ports, rate, links);
}

void NodeNetwork::prove_rate(const std::string& qdiscs, LinkRate asked, std::size_t links) const {
  std::istringstream lines(qdiscs);
  std::size_t proved = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<LinkRate> rate = rate_from_qdisc(line);
    if (!rate) continue;
    if (std::abs(static_cast<double>(rate->bits_per_s) / static_cast<double>(asked.bits_per_s) - 1) <= kCutOffByTc) ++proved;
  }
  if (proved != links) {
    throw Error(ErrorCode::kEnvironment, fmt::format("{} of {} links are shaped to {} according to tc",
                                                     proved, links, to_string(asked)));
  }
}

NodeNetwork::Facts NodeNetwork::read_statistics() {
  Facts facts;
  if (nodes_.empty()) return facts;
  std::int64_t sent = 0;
  for (const UniqueFd& node : nodes_) sent += sent_bytes(node.get());
  set_fact(facts, fact_key<"network.sent_bytes">, sent);
  if (!plan_.shapes_links()) return facts;
  std::int64_t dropped = dropped_packets(run_tool({{"tc", "-s", "qdisc", "show"}, {}, -1, {}}));
  for (const UniqueFd& node : nodes_) {
    dropped += dropped_packets(run_tool({{"tc", "-s", "qdisc", "show"}, {}, node.get(), {}}));
  }
  set_fact(facts, fact_key<"network.dropped_packets">, dropped);
  return facts;
}

}  // namespace ddbench::launch
