#include "harness/launch/local/rank_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/error.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/start/torchrun_variables.h"

namespace ddbench::launch {
namespace {

constexpr int kTorchrunPort = 29500;
constexpr int kAttempts = 16;

bool are_free_behind(int port, int count) {
  for (int next = port + 1; next <= port + count; ++next) {
    try {
      if (next > 65535) return false;
      listen_at({"127.0.0.1", next});
    } catch (const Error&) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> arguments_of(const FabricPlan& plan, int rank) {
  std::vector<std::string> arguments = plan.command;
  arguments.push_back("--control-fd");
  arguments.push_back(std::to_string(plan.control_fds[static_cast<std::size_t>(rank)]));
  return arguments;
}

/// The host identity that NCCL in a program must use for a rank: NCCL refuses ranks of one host that share a
/// GPU, and bypasses the links between nodes that it takes for one host. Empty: NCCL's own detection; the
/// engine's backend detects sharing itself.
std::string nccl_host(const FabricPlan& plan, int rank, Isolation isolation) {
  if (!plan.runs_program) return {};
  if (plan.shares_gpus) return fmt::format("ddbench-rank-{}", rank);
  if (isolation == Isolation::kLinks) return fmt::format("ddbench-node-{}", rank / plan.ranks_per_node);
  return {};
}

/// Where TensorFlow's servers of all ranks will listen: at ports behind that of torchrun's variables.
std::vector<Endpoint> tensorflow_workers(const FabricPlan& plan, Isolation isolation, int port) {
  std::vector<Endpoint> workers;
  for (int rank = 0; rank < plan.nodes * plan.ranks_per_node; ++rank)
    workers.push_back({rank_address(isolation, rank / plan.ranks_per_node), port + 1 + rank});
  return workers;
}

/// In the child: nothing else reads its environment.
void set_environment(const FabricPlan& plan, int rank, Isolation isolation, int port) {
  const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
  set("DDBENCH_RANK", std::to_string(rank));
  if (plan.sets_rank_variables) {
    const RankPlace place{rank, plan.nodes, plan.ranks_per_node};
    for (const auto& [name, value] : torchrun_variables(place, {rank_address(isolation, 0), port})) set(name.c_str(), value);
  }
  if (plan.sets_rank_variables && plan.runs_program) set("TF_CONFIG", tf_config(tensorflow_workers(plan, isolation, port), rank));
  ::setenv("OMP_NUM_THREADS", "1", 0);
  const std::string host = nccl_host(plan, rank, isolation);
  if (!host.empty()) ::setenv("NCCL_HOSTID", host.c_str(), 0);
  for (const auto& [name, value] : plan.environment) set(name.c_str(), value);
  if (!has_own_network(isolation)) return;
  // A program that asks the resolver for its address finds the host's loopback, which is not that of the
  // other nodes.
  const char* const interface = isolation == Isolation::kLinks ? "eth0" : "lo";
  for (const char* variable : {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}) {
    set(variable, interface);
  }
}

void redirect_output(const FabricPlan& plan, int rank) {
  const std::string log = (plan.log_directory / fmt::format("rank{}.log", rank)).string();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(file >= 0 ? file : nothing, STDOUT_FILENO);
  ::dup2(file >= 0 ? file : nothing, STDERR_FILENO);
}

[[noreturn]] void become_rank(const FabricPlan& plan, int rank, Isolation isolation, int port,
                              int network_namespace, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto fail = [&](int error) {
    send(socket, FabricEvent{FabricEvent::Kind::kExecFailed, rank, error, {}});
    ::_exit(127);
  };
  send(socket, FabricEvent{FabricEvent::Kind::kStarted, rank, host_pid(), {}});
  if (network_namespace >= 0 && ::setns(network_namespace, CLONE_NEWNET) != 0) fail(errno);
  set_environment(plan, rank, isolation, port);
  redirect_output(plan, rank);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::fcntl(plan.control_fds[static_cast<std::size_t>(rank)], F_SETFD, 0);
  const std::vector<std::string> arguments = arguments_of(plan, rank);
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  ::execv(pointers.front(), pointers.data());
  fail(errno);
  ::_exit(127);
}

}  // namespace

int rendezvous_port(const FabricPlan& plan, Isolation isolation) {
  if (has_own_network(isolation)) return kTorchrunPort;
  const int behind = plan.runs_program && plan.sets_rank_variables ? plan.nodes * plan.ranks_per_node : 0;
  int port = 0;
  bool are_free = false;
  for (int attempt = 0; attempt < kAttempts && !are_free; ++attempt) {
    port = local_end(listen_at({"127.0.0.1", 0}).get()).port;
    are_free = are_free_behind(port, behind);
  }
  return port;  // few programs use those behind it
}

pid_t start_rank(const FabricPlan& plan, int rank, Isolation isolation, int port, int network_namespace,
                 int socket) {
  const auto child = static_cast<pid_t>(check_posix(
      ::fork(), fmt::format("no process can be made for rank {}", rank), ErrorCode::kEnvironment));
  if (child == 0) become_rank(plan, rank, isolation, port, network_namespace, socket);
  return child;
}

}  // namespace ddbench::launch
