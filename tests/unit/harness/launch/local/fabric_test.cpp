#include "harness/launch/local/fabric.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>

#include "core/error.h"
#include "harness/launch/local/probe_namespaces.h"
#include "hang_limit.h"
#include "launch_fixture.h"
#include "socket_pair.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

/// Streams `bytes` from the last node to the first over links of `link`; bytes per second.
double measure(int nodes, const std::string& link, std::size_t bytes, Isolation isolation,
               std::map<std::string, std::string>* facts = nullptr) {
  ::setenv("NETWORK_TEST_BYTES", std::to_string(bytes).c_str(), 1);
  const test::TemporaryDirectory directory;
  std::vector<SocketPair> sockets(static_cast<std::size_t>(nodes));
  FabricPlan plan;
  plan.nodes = nodes;
  if (!link.empty()) plan.link = parse_link_rate(link);
  plan.command = {NETWORK_TEST_RANK};
  for (const SocketPair& pair : sockets) plan.control_fds.push_back(pair.right.get());
  plan.log_directory = directory.path();
  Fabric fabric(plan, isolation);
  for (SocketPair& pair : sockets) pair.right.reset();
  fabric.launch();
  pollfd poll_fd{sockets[0].left.get(), POLLIN, 0};
  ::poll(&poll_fd, 1, std::chrono::milliseconds(test::kHangs).count());
  char text[64] = {};
  const ssize_t count = ::read(sockets[0].left.get(), text, sizeof text - 1);
  fabric.finish(10s);
  if (facts != nullptr) *facts = fabric.facts();
  return count > 0 ? std::atof(text) : 0;
}

/// The reason why this machine gives no such network; empty when it does.
std::string refusal() {
  const auto namespaces = probe_namespaces();
  return namespaces ? "" : namespaces.reason();
}

TEST(Fabric, NodesReachEachOtherOverTheirOwnNetwork) {
  if (const std::string reason = refusal(); !reason.empty()) GTEST_SKIP() << reason;
  std::map<std::string, std::string> facts;
  EXPECT_GT(measure(3, "", 16 << 20, Isolation::kLinks, &facts), 0.0);
  // The stream crossed the node's link, and not some other way.
  EXPECT_GT(std::stoll(facts["network.sent_bytes"]), 16 << 20);
  EXPECT_FALSE(facts.contains("network.link_rate"));
}

TEST(Fabric, NodesWithoutLinksShareALoopbackAndANoteSaysSo) {
  EXPECT_GT(measure(2, "", 4 << 20, Isolation::kPrivate), 0.0);
}

/// An interface that no network of ours has; "lo" where this machine has no other.
std::string interface_of_machine() {
  std::string name = "lo";
  struct if_nameindex* const all = ::if_nameindex();
  for (const struct if_nameindex* each = all; each != nullptr && each->if_name != nullptr; ++each) {
    if (name == "lo") name = each->if_name;
  }
  ::if_freenameindex(all);
  return name;
}

TEST(Fabric, AProgramOnOneNodeHasTheMachinesNetwork) {
  ::setenv("NCCL_SOCKET_IFNAME", interface_of_machine().c_str(), 1);
  double bytes_per_s = 0;
  std::string refused;
  try {
    bytes_per_s = measure(2, "", 4 << 20, Isolation::kProcesses);
  } catch (const Error& error) {
    refused = error.message();
  }
  ::unsetenv("NCCL_SOCKET_IFNAME");
  if (!refused.empty()) GTEST_SKIP() << refused;
  EXPECT_GT(bytes_per_s, 0.0);
}

TEST(Fabric, WithoutNamespacesRanksUseTheMachinesLoopback) {
  EXPECT_GT(measure(2, "", 4 << 20, Isolation::kNone), 0.0);
}

TEST(Fabric, ALinkIsShapedAsAskedFor) {
  if (const std::string reason = refusal(); !reason.empty()) GTEST_SKIP() << reason;
  // What a stream gets of it is measured in tests/calibration.
  std::map<std::string, std::string> facts;
  EXPECT_GT(measure(2, "100mbit", 5 << 20, Isolation::kLinks, &facts), 0.0);
  EXPECT_EQ(facts["network.link_rate"], "100mbit");
  EXPECT_NE(facts["network.link_qdisc"].find("rate 100Mbit"), std::string::npos)
      << facts["network.link_qdisc"];
}

TEST(Fabric, LeavesNothingWhenItEnds) {
  struct stat before {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &before), 0);
  const std::size_t files = open_files();
  { measure(2, "", 1 << 20, Isolation::kNone); }
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(open_files(), files);
  struct stat after {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST(Fabric, WorksForUnprivilegedUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "the other tests of this file are unprivileged already";
  constexpr int kRefused = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(kRefused);
    ::prctl(PR_SET_DUMPABLE, 1);  // as after the exec of any program: /proc/self is this user's
    const auto namespaces = probe_namespaces();
    if (!namespaces) {
      fmt::print(stderr, "{}\n", namespaces.reason());
      ::_exit(kRefused);
    }
    std::map<std::string, std::string> facts;
    const bool streamed = measure(2, "1gbit", 8 << 20, Isolation::kLinks, &facts) > 0;
    ::_exit(*namespaces && streamed && facts["network.link_rate"] == "1gbit" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRefused)
    GTEST_SKIP() << "unprivileged users may not have namespaces";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Fabric, SixteenNodes) {
  if (const std::string reason = refusal(); !reason.empty()) GTEST_SKIP() << reason;
  EXPECT_GT(measure(16, "1gbit", 4 << 20, Isolation::kLinks), 0.0);
}

}  // namespace
}  // namespace ddbench::launch
