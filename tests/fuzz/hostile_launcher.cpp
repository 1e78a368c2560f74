// A rank against a launcher that sends anything, over a real socket.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "fuzz_targets.h"
#include "harness/launch/trust/handshake.h"
#include "harness/launch/worker/own_command.h"
#include "harness/launch/worker/require_own.h"
#include "harness/launch/worker/training_state.h"
#include "harness/launch/worker/worker_session.h"
#include "script.h"

namespace ddbench::fuzz {
namespace {

using namespace std::chrono_literals;
using namespace launch;

constexpr auto kAnswersIn = 50ms;
const SessionKeys kRanks{.sending = std::string(32, 'r'), .receiving = std::string(32, 'l')};

/// The launcher's end: sends a record whenever the rank has sent something, or is silent for a moment; then it ends.
///   m  a message, as a frame with its tag    r  bytes as they are    w  waits for the rank
class HostileLauncher {
 public:
  HostileLauncher(UniqueFd socket, bool has_keys, std::vector<std::string_view> script)
      : socket_(std::move(socket)), script_(std::move(script)) {
    if (has_keys) seal_.emplace(kRanks.receiving);
    thread_ = std::thread([this] { run(); });
  }
  ~HostileLauncher() {
    ending_ = true;
    thread_.join();
  }
  HostileLauncher(const HostileLauncher&) = delete;
  HostileLauncher& operator=(const HostileLauncher&) = delete;

 private:
  void run() {
    for (const std::string_view record : script_) {
      wait(3);
      if (record.empty()) continue;
      const std::string_view rest = record.substr(1);
      if (record[0] == 'm') send_frame(rest);
      if (record[0] == 'r') send(rest);
    }
    wait(3);
    ::shutdown(socket_.get(), SHUT_WR);
    while (!ending_) wait(1);  // the rank never waits for room
  }

  void wait(int most_ms) {
    pollfd readable{socket_.get(), POLLIN, 0};
    if (::poll(&readable, 1, most_ms) <= 0) return;
    char buffer[4096];
    while (::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
    }
  }
  void send(std::string_view bytes) const {
    static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  void send_frame(std::string_view payload) {
    const std::uint32_t length = ::htonl(static_cast<std::uint32_t>(payload.size()));
    const std::string header(reinterpret_cast<const char*>(&length), sizeof length);
    send(header + std::string(payload) + (seal_ ? seal_->next_tag(header, payload) : ""));
  }

  UniqueFd socket_;
  std::vector<std::string_view> script_;
  std::optional<FrameSeal> seal_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

/// Rank 1 of 2, whose command line states 8 steps.
OwnCommand own_command(std::string_view flags) {
  RunCase run_case;
  run_case.gpus_per_node = 2;
  run_case.steps = 8;
  run_case.warmup = 1;
  if (flags.find('c') != std::string_view::npos) run_case.checkpoint_every = 2;
  if (flags.find('p') != std::string_view::npos) set_program(run_case, {"train"});
  return {.run_case = run_case, .checkpoints = "/data/runs.db.checkpoints"};
}

/// A rank without a secret does what its own command line says, whatever the launcher says.
void expect_own(const Assignment& taken, const OwnCommand& own) {
  RunCase own_case = *own.run_case;
  own_case.sku = taken.run_case.sku;
  if (to_json(taken.run_case) != to_json(own_case) || taken.rank != 1 || taken.world_size != 2) std::abort();
  for (const std::filesystem::path path : {taken.checkpoint_directory, taken.resume_from}) {
    if (path.empty()) continue;
    const bool is_below = path.lexically_normal() == path && path.string().starts_with(own.checkpoints.string() + "/");
    if (!is_below) std::abort();
  }
  if (taken.run_id.find('/') != std::string::npos || taken.run_id.starts_with('.')) std::abort();
}

/// What a rank does with its session, from its hello to its end (worker.cpp), without training.
void live(WorkerSession& session, TrainingState& state, const OwnCommand& own, bool is_proved) {
  Assignment assignment = session.join(1, kAnswersIn);
  if (is_proved) {
    require_same_case(assignment, own);
  } else {
    Placement placement;
    placement.rank = placement.local_rank = 1;
    placement.world_size = placement.local_world_size = 2;
    require_own(assignment, own, placement);
    expect_own(assignment, own);
  }
  session.read_clock(kAnswersIn);
  session.set("rank1", {'a', 'b'});
  session.get("rank0", kAnswersIn);
  if (session.get_all("rank", 2, kAnswersIn).size() != 2) std::abort();
  if (session.get_column("rank", 2, 1, kAnswersIn).size() != 2) std::abort();
  session.send(Ready{"gloo", "", {}});
  state.gather_step_times(1);
  state.on_begin(0);
  for (std::uint32_t step = 0; step < 4; ++step) {
    state.on_collective_begin("all_reduce", step);
    state.on_collective_end(step);
    state.on_step_time(step, 1000);
    state.on_step(step, 0.5);
    if (state.end_after(step).is_last) break;
  }
  session.send(Result{});
  session.wait_for_finish();
}

void be_rank(Bytes input) {
  std::vector<std::string_view> script = split(text_of(input), kRecordSeparator);
  const std::string_view flags = script.front();
  script.erase(script.begin());
  const bool is_proved = flags.find('s') != std::string_view::npos;
  const OwnCommand own = own_command(flags);
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  TrainingState state;
  // Ends after the session: the rank's control thread reads from it.
  HostileLauncher launcher(UniqueFd(ends[0]), is_proved, std::move(script));
  WorkerSession session(UniqueFd(ends[1]), is_proved ? std::optional(kRanks) : std::nullopt, state, [] {});
  try {
    live(session, state, own, is_proved);
  } catch (const Error&) {
    // refused: as good as lived
  }
}

/// What a launcher answers to a rank's hello.
void read_challenge(Bytes input) {
  RankHandshake handshake("secret", {.rank = 1, .world_size = 2, .job = "job"});
  try {
    handshake.answer(text_of(input));
    std::abort();  // nobody without the secret can answer
  } catch (const Error&) {
  }
}

void meet_launcher(Bytes input) {
  if (!input.empty() && input[0] == 'h') return read_challenge(input.subspan(1));
  be_rank(input);
}

}  // namespace

const Target kHostileLaunchers{"hostile_launchers", meet_launcher};

}  // namespace ddbench::fuzz
