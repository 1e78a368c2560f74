#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/launch/control/rank_acceptor.h"
#include "harness/launch/control/rank_processes.h"
#include "harness/launch/start/job_process.h"

namespace ddbench::launch {

/// How remote ranks are started. mpirun, srun and env differ only in this.
struct RemoteJob {
  std::string launcher;              ///< for people: "mpirun"
  std::vector<std::string> command;  ///< starts the ranks, or the one that is this process's own
  Endpoint listen;                   ///< where the ranks' reports are taken; port 0: one that is free
  RunCredentials credentials;
  bool may_queue = false;  ///< ranks may have to wait for their machines as long as it takes
};

/// Raises this process's limit of open files, as far as it may: each rank takes a connection here, one more for the turns of a sweep,
/// and, while its spool is read, a file. The usual limit is 1024.
void allow_open_files(int world_size);

/// Ranks on other machines (or on this one, when that is where the job puts them): all that there is of them
/// here is the job that starts them and a connection of each.
class RemoteProcesses final : public RankProcesses {
 public:
  /// Listens at once. Throws as listen_at. `log`: file for the job's output.
  RemoteProcesses(RemoteJob job, int world_size, std::filesystem::path log);

  /// Throws Error{kEnvironment} when the job cannot be started.
  void launch() override;
  /// The connection is all that can be cut: a rank that notices it ends, and finish() ends the rest.
  void kill(int rank) override;
  std::vector<FabricEvent> read_events() override;
  std::vector<int> watched() const override { return acceptor_.watched(); }
  bool gone() const noexcept override { return false; }
  const std::map<std::string, std::string>& facts() const noexcept override { return facts_; }
  void finish(std::chrono::milliseconds timeout) override;
  bool remote() const noexcept override { return true; }
  std::string address_of(const Hello& hello, int node) const override;
  std::vector<Arrival> take_arrivals() override { return acceptor_.take_arrivals(); }
  bool started() const noexcept override { return !job_.may_queue || acceptor_.anybody_came(); }
  std::string trouble() const override;
  JobEnd job_end(std::chrono::milliseconds timeout) override;

 private:
  RemoteJob job_;
  RankAcceptor acceptor_;
  std::filesystem::path log_;
  std::unique_ptr<JobProcess> process_;
  bool end_reported_ = false;
  bool was_waited_for_ = false;
  std::vector<FabricEvent> events_;
  std::map<std::string, std::string> facts_;
};

}  // namespace ddbench::launch
