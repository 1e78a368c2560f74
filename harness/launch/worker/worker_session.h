#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "harness/collective/key_value_store.h"
#include "harness/launch/control/control_channel.h"
#include "harness/launch/transfer/shipped_files.h"
#include "harness/launch/worker/training_state.h"

namespace ddbench::launch {

/// The information that every rank sends about itself; fields that only the starter of remote ranks knows are
/// empty.
Hello introduce(int rank);

/// The rank's end of the control channel. A control thread owns the reading side for the whole life of the
/// session: it sends heartbeats, measures clocks, hands out what other threads wait for, and reacts to Stop
/// while the main thread is blocked.
class WorkerSession final : public collective::KeyValueStore {
 public:
  static constexpr int kPings = 48;
  static constexpr std::chrono::milliseconds kHeartbeat{200};
  /// From 256 ranks on they beat the more rarely the more they are, at least once a second: one launcher hears them all.
  static constexpr std::chrono::milliseconds heartbeat_for(int world_size) {
    return std::clamp(kHeartbeat * world_size / 256, kHeartbeat, std::chrono::milliseconds(1000));
  }
  /// Between two readings of the clock while a rank follows it; later on one 512th of the time since it joined,
  /// so that a week has some thousand.
  static constexpr std::chrono::seconds kClockEvery{2};
  static constexpr int kPingsWhileRunning = 8;

  /// `on_disconnect` is called on the control thread when the launcher is gone.
  /// `keys`: of the handshake on the socket; nothing for an inherited one.
  WorkerSession(UniqueFd socket, const std::optional<SessionKeys>& keys, TrainingState& state,
                std::function<void()> on_disconnect);
  WorkerSession(UniqueFd socket, TrainingState& state, std::function<void()> on_disconnect)
      : WorkerSession(std::move(socket), std::nullopt, state, std::move(on_disconnect)) {}
  ~WorkerSession() override;

  /// Sends the hello and waits for the assignment. Throws Error{kRunFailed} after `timeout`, kInterrupted
  /// when requested to stop.
  Assignment join(const Hello& hello, std::chrono::milliseconds timeout);
  Assignment join(int rank, std::chrono::milliseconds timeout) { return join(introduce(rank), timeout); }
  bool joined() const;
  /// Why the launcher gave no assignment, if it sent a reason; empty otherwise.
  std::string refusal() const;
  /// What the launcher itself ends with, once it has sent that (Stop, Finish).
  std::optional<int> exit_code_of_launcher() const;
  /// Waits for it as long as that, unless the connection ends.
  std::optional<int> exit_code_of_launcher(std::chrono::milliseconds patience);

  /// Sends what `files` gets with each heartbeat. Before join(); `files` outlives the session.
  void ship_from(ShippedFiles& files) { files_ = &files; }
  /// Sends all remaining data now. Throws Error when the launcher is gone or a file cannot be read.
  void ship_rest();
  /// The launcher's clock minus this one's, from kPings exchanges. Errors as join().
  ClockReading read_clock(std::chrono::milliseconds timeout);
  /// Waits, without limit, until the launcher lets the rank leave (Finish or Stop).
  void wait_for_finish();

  void set(const std::string& key, const collective::Bytes& value) override;
  collective::Bytes get(const std::string& key, std::chrono::milliseconds timeout) override;
  std::vector<collective::Bytes> get_all(const std::string& prefix, int count, std::chrono::milliseconds timeout) override;
  std::vector<collective::Bytes> get_column(const std::string& prefix, int count, int index,
                                            std::chrono::milliseconds timeout) override;

  /// Thread-safe. Throws Error{kRunFailed} when the launcher is gone.
  void send(const Message& message);

  /// Called once on the control thread when the rank must give up; at once when that is already so. Empty:
  /// nothing is called.
  void on_stop(std::function<void()> action);
  /// For a remote rank: FlightRequest is answered from the flight recorders in this folder. `is_program`:
  /// heartbeats also report which collectives the program's processes are in.
  void answer_of(const std::filesystem::path& folder, bool is_program);
  /// Asked at each heartbeat: a trouble that other threads cannot notice (a full disk). The first one stops
  /// the rank.
  void watch(std::function<std::optional<Error>()> trouble);

  bool stopped() const;
  /// Why the rank gave up, when it was for its own trouble.
  std::optional<Error> trouble() const;

 private:
  std::vector<collective::Bytes> gather(KvGather request, std::chrono::milliseconds timeout);
  void control_loop();
  void take(Message message, std::int64_t received_ns);
  void heartbeat();
  void ping();
  void follow_clock();
  void answer(const FlightRequest& request);
  void stop(std::optional<Error> trouble);
  [[noreturn]] void fail_waiting(const std::string& what, std::chrono::milliseconds timeout) const;

  ControlChannel channel_;
  TrainingState& state_;
  std::function<void()> on_disconnect_;
  std::mutex send_mutex_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::optional<Assignment> assignment_;
  std::map<std::uint64_t, std::optional<collective::Bytes>> gets_;  // waited for, by id
  std::map<std::uint64_t, std::optional<KvParts>> gathers_;  // likewise
  std::uint64_t next_get_ = 1;
  int pings_left_ = 0;
  std::uint64_t ping_id_ = 0;
  PingSample ping_;
  std::vector<PingSample> pings_;
  bool is_following_ = false;  // the reading under way is follow_clock()'s
  bool stopped_ = false;
  bool finished_ = false;
  std::string stop_reason_;
  std::optional<int> exit_code_of_launcher_;
  std::optional<Error> trouble_;
  std::filesystem::path flights_folder_;  // empty: this rank has no flight recorders to send
  bool reports_program_ = false;
  std::function<void()> on_stop_;
  std::function<std::optional<Error>()> watch_;

  std::chrono::milliseconds heartbeat_ = kHeartbeat;  // control thread only, as the four below
  unsigned beats_ = 0;
  bool joined_ = false;
  std::chrono::steady_clock::time_point joined_at_;
  std::chrono::steady_clock::time_point next_reading_ = std::chrono::steady_clock::time_point::max();
  ShippedFiles* files_ = nullptr;
  std::atomic<bool> ending_{false};
  UniqueFd wake_;  // eventfd: the control thread has something to do
  std::thread control_thread_;
};

/// What a session calls when the rank must give up, as long as this lives: what the action uses must live longer.
class StopAction {
 public:
  StopAction(WorkerSession& session, std::function<void()> action) : session_(session) { session_.on_stop(std::move(action)); }
  ~StopAction() { session_.on_stop({}); }
  StopAction(const StopAction&) = delete;
  StopAction& operator=(const StopAction&) = delete;

 private:
  WorkerSession& session_;
};

}  // namespace ddbench::launch
