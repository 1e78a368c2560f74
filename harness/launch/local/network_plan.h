#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/machine/link_rate.h"

/// What is asked of iproute2, as text: nothing here runs anything.
namespace ddbench::launch {

/// Token bucket of one direction of a node's link.
struct Shaping {
  std::int64_t rate_bits_per_s = 0;
  std::int64_t burst_bytes = 0;
  std::int64_t latency_ms = 0;
};

/// A bucket that holds a whole GSO packet of 64 KiB (smaller ones are cut up in software, which costs
/// bandwidth when both directions are busy), or half a millisecond of the rate where that is more (10gbit
/// loses 8% with less). The queue holds 20 ms: enough for many senders into one link without loss.
Shaping shaping_for(LinkRate rate);

/// Address of a node on the network 10.77.0.0/16; nodes count from 0.
std::string node_address(int node);

/// Name of the bridge port that leads to a node.
std::string port_name(int node);

/// For `ip -batch -` in the network's middle: a bridge, and for each node a veth pair whose other end is
/// `eth0` in the namespace that the file descriptor refers to.
std::string bridge_commands(const std::vector<int>& node_namespace_fds);

/// For `ip -batch -` inside a node. Its connections are controlled by Reno, which every kernel has, whatever
/// the machine prefers: a run over an emulated link means the same everywhere, and BBR, for one, fills the
/// shaped queue until it drops packets, and is up to 30% slower over 100mbit for it.
std::string node_commands(int node);

/// For `tc -batch -`: shapes what leaves through `device`.
std::string shaping_command(const std::string& device, const Shaping& shaping);

/// The rate in a line of `tc qdisc show` ("qdisc tbf 8001: root refcnt 2 rate 1Gbit burst ..."); nothing when
/// the line is not a tbf. tc truncates digits: the true rate is up to 0.1% higher.
std::optional<LinkRate> rate_from_qdisc(const std::string& line);

/// The congestion control that a line of `ip route show` names ("... congctl reno"); empty when none does.
std::string congestion_control_of(const std::string& routes);

/// Sum of the numbers after "(dropped " in the output of `tc -s qdisc show`.
std::int64_t dropped_packets(const std::string& qdisc_statistics);

}  // namespace ddbench::launch
