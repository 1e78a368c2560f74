#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/unique_handle.h"
#include "harness/launch/control/rank_processes.h"
#include "harness/launch/machine/link_rate.h"

namespace ddbench::launch {

/// How far the ranks are from the machine's own network and from each other.
enum class Isolation {
  kLinks,    ///< own namespaces; a network namespace for each node, joined by veth pairs and a bridge
  kPrivate,  ///< own namespaces; all ranks on the `lo` of one network namespace
  kProcesses,  ///< an own pid namespace; the machine's network as it is
  kNone,     ///< no namespaces
};

constexpr bool has_own_network(Isolation isolation) noexcept {
  return isolation == Isolation::kLinks || isolation == Isolation::kPrivate;
}

struct FabricPlan {
  int nodes = 1;
  int ranks_per_node = 1;
  /// The rate of a node's link; nothing: as fast as the machine.
  std::optional<LinkRate> link_of(int node) const { return node == slow_node ? slow_link : link; }
  bool shapes_links() const { return link || slow_link; }
  std::optional<LinkRate> link;
  std::optional<LinkRate> slow_link;               ///< of one node, in the place of `link`: a fault to be found
  int slow_node = -1;
  bool runs_program = false;                       ///< which ddbench did not write
  bool shares_gpus = false;                        ///< LaunchOptions
  bool sets_rank_variables = true;                        ///< LaunchOptions
  std::vector<std::string> command;                ///< of every rank; "--control-fd N" follows
  std::vector<int> control_fds;                    ///< by rank: the rank's end of its control socket
  std::map<std::string, std::string> environment;  ///< for every rank, besides the fabric's own variables
  std::filesystem::path log_directory;             ///< a rank's output goes to rank<N>.log here
};

/// The address of a node's ranks.
std::string rank_address(Isolation isolation, int node);

/// The processes between the launcher and the ranks, and the network they live in. A first process makes the
/// namespaces, a second one is their init: it sets the network up, starts the ranks, and reports how they
/// end. When the init dies, the kernel kills all processes in them, including stopped and detached ones; it
/// dies with the launcher.
class Fabric final : public RankProcesses {
 public:
  /// Returns when the network is up. Throws Error{kEnvironment} with the reason when this isolation is not
  /// available.
  Fabric(const FabricPlan& plan, Isolation isolation);
  /// Ends everything and waits for it.
  ~Fabric() override;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  Isolation isolation() const noexcept { return isolation_; }
  /// What was read back from the system: link rate, queueing discipline, congestion control, ...
  const std::map<std::string, std::string>& facts() const noexcept override { return facts_; }

  void launch() override;        ///< start the ranks; kStarted and kExited (or kExecFailed) events follow
  void kill(int rank) override;  ///< SIGKILL, if it lives

  std::vector<int> watched() const override { return {socket_.get()}; }
  /// Facts are kept here.
  std::vector<FabricEvent> read_events() override;
  bool gone() const noexcept override { return gone_; }
  bool remote() const noexcept override { return false; }
  std::string address_of(const Hello& hello, int node) const override;

  /// Stores the traffic of the links in facts() and ends everything. No rank is left when it returns.
  void finish(std::chrono::milliseconds timeout) override;

 private:
  void wait_until_ready(std::chrono::milliseconds timeout);
  void terminate() noexcept;

  Isolation isolation_;
  UniqueFd socket_;
  pid_t outer_ = -1;
  bool gone_ = false;
  std::map<std::string, std::string> facts_;
};

}  // namespace ddbench::launch
