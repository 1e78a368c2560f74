#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/launch/control/control_channel.h"
#include "harness/launch/control/fabric_messages.h"
#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// A rank that has connected itself and proved that it belongs to the run.
struct Arrival {
  std::unique_ptr<ControlChannel> channel;
  Hello hello;
};

/// What a scheduler did to the job of the ranks, according to the output of its launcher.
struct JobEnd {
  enum class Cause { kNotKnown, kCancelled, kStepCancelled, kPreempted, kTimeLimit, kNodeLost };
  Cause cause = Cause::kNotKnown;
  std::string job;                      ///< its number, of a job that was cancelled
  std::vector<std::string> lost_nodes;  ///< as the scheduler calls them

  friend bool operator==(const JobEnd&, const JobEnd&) = default;
};

/// The processes of the ranks as their supervisor sees them, however they were started: Fabric has them on
/// this machine and hears how they end; RemoteProcesses only has connections to them. Single-threaded.
class RankProcesses {
 public:
  virtual ~RankProcesses() = default;

  virtual void launch() = 0;
  /// Ends a rank's process, if it lives; a kExited event follows.
  virtual void kill(int rank) = 0;
  /// What has happened since the last call. Without waiting.
  virtual std::vector<FabricEvent> read_events() = 0;
  /// File descriptors that become readable when there is something to read_events() or take_arrivals().
  virtual std::vector<int> watched() const = 0;
  /// Whatever held the ranks died, and they with it.
  virtual bool gone() const noexcept = 0;
  /// What was read back from the system, for LaunchOutcome::facts.
  virtual const std::map<std::string, std::string>& facts() const noexcept = 0;
  /// Ends everything. No rank that could be reached is left when it returns.
  virtual void finish(std::chrono::milliseconds timeout) = 0;

  /// The ranks are elsewhere: they connect themselves, the end of a connection is all that is seen of their
  /// end, and their files are not in the run's directory.
  virtual bool remote() const noexcept = 0;
  /// The address of the interface that the ranks of this node talk to each other over.
  virtual std::string address_of(const Hello& hello, int node) const = 0;
  virtual std::vector<Arrival> take_arrivals() { return {}; }
  /// False while the ranks wait in a queue for their machines: the start's deadline does not run yet.
  virtual bool started() const noexcept { return true; }
  /// Why ranks may be missing, for people; empty when there is nothing to say.
  virtual std::string trouble() const { return {}; }
  /// What the job's launcher says of its end, for which this waits up to `timeout`. Before finish(), which ends the launcher itself.
  virtual JobEnd job_end(std::chrono::milliseconds /*timeout*/) { return {}; }
};

}  // namespace ddbench::launch
