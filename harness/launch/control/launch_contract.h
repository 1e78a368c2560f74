#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/provenance.h"
#include "core/run_case/records.h"
#include "core/run_case/run_case.h"
#include "harness/launch/control/messages.h"
#include "harness/launch/machine/machine_counters.h"
#include "harness/training/checkpoint/checkpoint.h"

namespace ddbench::launch {

struct LaunchOptions {
  store::RunId run_id;
  std::filesystem::path run_directory;  ///< exists; spools are written here as rank<N>.spool
  std::filesystem::path executable;  ///< of ddbench; each rank is `<executable> worker` with a control socket
  ddp::CheckpointPlan checkpoints;
  /// For all ranks to start and find each other.
  std::chrono::milliseconds start_deadline{120'000};
  /// No progress of a step, a collective or long work (ddp::LongWork) for this long fails the run.
  std::chrono::milliseconds watchdog{60'000};
  /// Between the request to stop and the kill.
  std::chrono::milliseconds grace{5'000};
  /// Of a preempted run: for a last checkpoint, or for a program to end by itself.
  std::chrono::milliseconds preemption_grace{20'000};
  /// Ranks elsewhere send the spans of sampled and slow steps, and of the others what their partition needs.
  bool reduce_spans = false;
  bool shares_gpus =
      false;  ///< on this machine: each rank of a program gets an NCCL_HOSTID of its own
  /// On this machine: each rank of a program gets the variables of torchrun. False: the program is one process, started as a
  /// shell would. Where it starts ranks of its own, such variables would make it believe that a launcher has done so.
  bool sets_rank_variables = true;
};

/// What the ranks report while they run; called on the launching thread.
struct RankProgress {
  int rank = 0;
  std::uint32_t step = 0;  ///< steps completed
  double loss = 0;
  std::int64_t collectives_ns = 0;  ///< Heartbeat; 0 with the result
};

class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual void on_network(const std::string& network,
                          const std::string& note) = 0;  ///< what was set up, and why not more
  virtual void on_progress(const RankProgress& progress) = 0;
  /// About once a second of each rank that measures it: what it did before it waited for others.
  virtual void on_own_time(int /*rank*/, const RankOwnTime& /*time*/) {}
  /// About once a second, whatever happens, after the launcher's last fork. Ranks are watched over by
  /// the same thread: what takes time belongs on another.
  virtual void on_tick() = 0;
  virtual bool interrupted() = 0;  ///< stop the ranks: Ctrl-C was pressed, the terminal was closed
  /// Begins the reason that is stored when interrupted() is true.
  virtual std::string interruption() { return "interrupted"; }
  /// A scheduler wants the machines: end the ranks with their work kept.
  virtual bool preempted() { return false; }
  /// A person wants to know where the ranks are (SIGUSR1). True once for each time that was asked.
  virtual bool asked_where() { return false; }
  virtual void on_where(const std::string& /*ranks*/) {}
  /// Ranks wait in a collective for one that does not come, and have for some seconds: who, and where. Once for each time.
  virtual void on_hang(const std::string& /*who*/) {}
};

struct LaunchOutcome {
  store::RunState state = store::RunState::kDone;
  std::string reason;  ///< rank, node and what happened, for people
  std::vector<store::RankRecord> ranks;
  std::string network;             ///< "loopback", "veth", "veth@1gbit"
  std::string transport;           ///< Communicator::transport of rank 0
  std::set<std::string> shared_cores_with;  ///< other runs, for people: CoreClaim::shared_with of the ranks
  std::vector<std::string> notes;  ///< for people: what is less than asked, or odd
  /// For store::Environment::facts, all read back from the system: "network.link_rate", "network.link_qdisc",
  /// "network.tcp_congestion_control", "network.nodes", "network.user_namespace", "network.sent_bytes" (by
  /// all nodes), "network.dropped_packets" (by all shaped links). Of ranks elsewhere: "launcher.span_bytes",
  /// which their spools took on the way, and what else their launcher reports.
  std::map<std::string, std::string> facts;
  /// Of a run whose ranks are elsewhere: what their machines were; the launcher's own machine says nothing.
  std::optional<ProvenanceSet> provenance;
  /// Likewise, where it is known: host::facts of each machine that ranks were on, that of rank 0 first;
  /// "cpu.cores" are those that its ranks were given.
  std::vector<std::map<std::string, std::string>> machines;
  /// By launch(): what each machine counted, in the order of their nodes. One whose ranks all ended without a
  /// word is not among them.
  std::vector<MachineCounts> counted;
};

}  // namespace ddbench::launch
