#include "harness/launch/local/fabric.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "core/error.h"
#include "harness/launch/local/namespace_launcher.h"
#include "harness/launch/local/network_plan.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kNetworkTakesLess = 60s;
constexpr auto kOuterEndsIn = 5s;

void wait_readable(int fd, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd poll_fd{fd, POLLIN, 0};
  ::poll(&poll_fd, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
}

}  // namespace

std::string rank_address(Isolation isolation, int node) {
  return isolation == Isolation::kLinks ? node_address(node) : "127.0.0.1";
}

Fabric::Fabric(const FabricPlan& plan, Isolation isolation) : isolation_(isolation) {
  int ends[2] = {-1, -1};
  check_posix(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair",
              ErrorCode::kEnvironment);
  socket_.reset(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t launcher = ::getpid();
  outer_ = static_cast<pid_t>(check_posix(::fork(), "fork", ErrorCode::kEnvironment));
  if (outer_ == 0) run_outer_process(plan, isolation, theirs.get(), launcher);
  theirs.reset();
  try {
    wait_until_ready(kNetworkTakesLess);
  } catch (...) {
    terminate();
    throw;
  }
}

std::string Fabric::address_of(const Hello& /*hello*/, int node) const {
  return rank_address(isolation_, node);
}

Fabric::~Fabric() {
  terminate();
}

void Fabric::wait_until_ready(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (Clock::now() < deadline && !gone_) {
    wait_readable(socket_.get(), deadline);
    for (const FabricEvent& event : read_events()) {
      if (event.kind == FabricEvent::Kind::kReady) return;
      if (event.kind == FabricEvent::Kind::kFailed) throw Error(ErrorCode::kEnvironment, event.text);
    }
  }
  throw Error(ErrorCode::kEnvironment, gone_ ? "the process that sets up the nodes' network died"
                                             : "the nodes' network was not up after 60 s");
}

void Fabric::launch() {
  send(socket_.get(), FabricCommand{FabricCommand::Kind::kLaunch, -1});
}

void Fabric::kill(int rank) {
  send(socket_.get(), FabricCommand{FabricCommand::Kind::kKill, rank});
}

std::vector<FabricEvent> Fabric::read_events() {
  std::vector<FabricEvent> events;
  while (std::optional<FabricEvent> event = receive_event(socket_.get(), gone_)) {
    if (event->kind == FabricEvent::Kind::kFact) {
      const std::size_t mark = event->text.find('=');
      facts_[event->text.substr(0, mark)] = event->text.substr(mark + 1);
    } else {
      events.push_back(std::move(*event));
    }
  }
  return events;
}

void Fabric::finish(std::chrono::milliseconds timeout) {
  send(socket_.get(), FabricCommand{FabricCommand::Kind::kFinish, -1});
  const auto deadline = Clock::now() + timeout;
  for (bool finished = false; !finished && !gone_ && Clock::now() < deadline;) {
    wait_readable(socket_.get(), deadline);
    for (const FabricEvent& event : read_events()) finished |= event.kind == FabricEvent::Kind::kFinished;
  }
  terminate();
}

void Fabric::terminate() noexcept {
  if (outer_ <= 0) return;
  // The outer process kills the init and returns when the kernel has cleared its namespaces.
  ::kill(outer_, kEndSignal);
  const auto deadline = Clock::now() + kOuterEndsIn;
  while (::waitpid(outer_, nullptr, WNOHANG) == 0) {
    if (Clock::now() > deadline) ::kill(outer_, SIGKILL);
    std::this_thread::sleep_for(2ms);
  }
  outer_ = -1;
  socket_.reset();
}

}  // namespace ddbench::launch
