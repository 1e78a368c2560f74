#include "harness/launch/local/local_launch.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/run_case/injected.h"
#include "core/run_case/program_case.h"
#include "harness/launch/local/fabric.h"
#include "harness/launch/local/network_plan.h"
#include "harness/launch/machine/link_rate.h"
#include "harness/launch/start/network_settings.h"
#include "harness/launch/supervisor/supervisor.h"
#include "harness/training/injected_faults.h"

namespace ddbench::launch {
namespace {

struct SocketPairs {
  std::vector<UniqueFd> launcher_ends;
  std::vector<UniqueFd> rank_ends;
};

SocketPairs make_sockets(int ranks) {
  SocketPairs pairs;
  for (int rank = 0; rank < ranks; ++rank) {
    int ends[2] = {-1, -1};
    check_posix(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
                fmt::format("no control socket can be made for rank {}", rank), ErrorCode::kEnvironment);
    pairs.launcher_ends.emplace_back(ends[0]);
    pairs.rank_ends.emplace_back(ends[1]);
  }
  return pairs;
}

struct Network {
  std::unique_ptr<Fabric> fabric;
  std::string name;  // LaunchOutcome::network
  std::string note;
};

std::string network_name(Isolation isolation, const std::optional<LinkRate>& link) {
  if (isolation != Isolation::kLinks) return "loopback";
  return link ? "veth@" + to_string(*link) : "veth";
}

/// The link that DDBENCH_INJECT makes slower than the others.
void take_injected(FabricPlan& plan) {
  const char* const text = std::getenv(kInjectVariable);
  if (text == nullptr) return;
  const ddp::FaultPlan faults = ddp::fault_plan(text);
  if (faults.link.empty()) return;
  if (faults.node < 0 || faults.node >= plan.nodes || plan.nodes < 2) {
    throw Error(ErrorCode::kBadInput, fmt::format("{}: link={} needs node=, one of several nodes; the run has {}", kInjectVariable,
                                                  faults.link, plan.nodes));
  }
  plan.slow_link = parse_link_rate(faults.link);
  plan.slow_node = faults.node;
}

/// Strongest first. A program on one node needs no network of ours, and may need the machine's: to download
/// data, to report to a server, to start ranks by ssh.
std::vector<Isolation> choices_for(const FabricPlan& plan) {
  if (plan.nodes > 1) return {Isolation::kLinks, Isolation::kPrivate, Isolation::kNone};
  return {plan.runs_program ? Isolation::kProcesses : Isolation::kPrivate, Isolation::kNone};
}

/// The strongest isolation that this machine gives.
Network make_network(const FabricPlan& plan) {
  Network network;
  for (const Isolation isolation : choices_for(plan)) {
    try {
      network.fabric = std::make_unique<Fabric>(plan, isolation);
      network.name = network_name(isolation, plan.link);
      if (plan.runs_program && has_own_network(isolation)) {
        network.note += fmt::format("{}the program has no other network than that between its nodes, which is emulated on this machine: "
                                    "it cannot download anything or report to a server. On one node it has the machine's",
                                    network.note.empty() ? "" : "; ");
      }
      return network;
    } catch (const Error& error) {
      if (isolation == Isolation::kNone) throw;
      if (isolation == Isolation::kLinks && plan.shapes_links()) {
        throw Error(
            ErrorCode::kEnvironment,
            fmt::format("links cannot be shaped to {} here: {}. Without --link none of this is needed",
                        to_string(plan.link ? *plan.link : *plan.slow_link), error.message()),
            error.native_code(), "link");
      }
      if (network.note.empty() && isolation != Isolation::kProcesses) {
        network.note = plan.nodes > 1
                           ? "the nodes share this machine's loopback instead of having a network each: "
                           : "the ranks use this machine's loopback instead of one of their own: ";
        network.note += error.message();
      }
    }
  }
  return network;
}

void require_executable(const std::filesystem::path& executable) {
  if (::access(executable.c_str(), X_OK) == 0) return;
  throw_errno(errno, fmt::format("{} cannot be executed", executable.string()), ErrorCode::kEnvironment);
}

}  // namespace

LaunchOutcome launch_local(const RunCase& run_case, const LaunchOptions& options, LaunchObserver& observer) {
  validate(run_case);
  require_executable(options.executable);
  SocketPairs sockets = make_sockets(run_case.world_size());
  FabricPlan plan;
  plan.nodes = run_case.nodes;
  plan.ranks_per_node = run_case.gpus_per_node;
  if (!run_case.link.empty()) plan.link = parse_link_rate(run_case.link);
  take_injected(plan);
  plan.runs_program = is_program(run_case);
  plan.shares_gpus = options.shares_gpus;
  plan.sets_rank_variables = options.sets_rank_variables || !plan.runs_program;
  plan.environment = network_settings(run_case.requested_network);
  plan.command = {options.executable.string(), "worker"};
  for (const UniqueFd& end : sockets.rank_ends) plan.control_fds.push_back(end.get());
  plan.log_directory = options.run_directory;

  const Network network = make_network(plan);
  sockets.rank_ends.clear();
  observer.on_network(network.name, network.note);
  LaunchOutcome outcome =
      Supervisor(run_case, options, observer, *network.fabric, std::move(sockets.launcher_ends)).run();
  outcome.network = network.name;
  if (!network.note.empty()) outcome.notes.push_back(network.note);
  if (plan.link && plan.nodes == 1) {
    outcome.notes.push_back(
        fmt::format("a single node has no link to shape: {} changes nothing", run_case.link));
  }
  return outcome;
}

}  // namespace ddbench::launch
