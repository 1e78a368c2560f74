#include "harness/launch/worker/worker_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/library_error/as_error.h"
#include "core/version/build_identity.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/worker/own_flights.h"
#include "harness/launch/machine/sigterm.h"

namespace ddbench::launch {
namespace {

constexpr std::size_t kShipAtOnceBytes = std::size_t{256} << 10;  // of each heartbeat: 1.3 MB/s at most

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1e3);
}

}  // namespace

WorkerSession::WorkerSession(UniqueFd socket, const std::optional<SessionKeys>& keys, TrainingState& state,
                             std::function<void()> on_disconnect)
    : channel_(std::move(socket), keys),
      state_(state),
      on_disconnect_(std::move(on_disconnect)),
      wake_(static_cast<int>(check_posix(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"))),
      control_thread_([this] { control_loop(); }) {}

WorkerSession::~WorkerSession() {
  ending_ = true;
  ::eventfd_write(wake_.get(), 1);
  control_thread_.join();
}

Hello introduce(int rank) {
  Hello hello;
  hello.rank = rank;
  hello.pid = host_pid();
  hello.host = host_name();
  hello.boot_id = boot_id();
  hello.version = build_version();
  hello.commit = build_commit();
  if (const char* const name = std::getenv("SLURMD_NODENAME")) hello.node_name = name;
  return hello;
}

Assignment WorkerSession::join(const Hello& hello, std::chrono::milliseconds timeout) {
  send(hello);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return assignment_ || stopped_; });
  if (stopped_ || !assignment_) fail_waiting("an assignment from the launcher", timeout);
  return *assignment_;
}

bool WorkerSession::joined() const {
  const std::lock_guard lock(mutex_);
  return assignment_.has_value();
}

std::string WorkerSession::refusal() const {
  const std::lock_guard lock(mutex_);
  return assignment_ ? std::string() : stop_reason_;
}

std::optional<int> WorkerSession::exit_code_of_launcher() const {
  const std::lock_guard lock(mutex_);
  return exit_code_of_launcher_;
}

std::optional<int> WorkerSession::exit_code_of_launcher(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return exit_code_of_launcher_ || stopped_; });
  return exit_code_of_launcher_;
}

void WorkerSession::ship_rest() {
  if (files_ == nullptr) return;
  while (!files_->ship(kShipAtOnceBytes, true)) {
  }
}

ClockReading WorkerSession::read_clock(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  pings_.clear();
  pings_left_ = kPings;
  is_following_ = false;
  ++ping_id_;  // a late answer to an abandoned reading must not pass for one to this
  ::eventfd_write(wake_.get(), 1);
  changed_.wait_for(lock, timeout, [&] { return pings_left_ == 0 || stopped_; });
  if (stopped_ || pings_left_ != 0) {
    pings_left_ = 0;
    fail_waiting("the launcher's clock", timeout);
  }
  return reading_from_pings(pings_);
}

void WorkerSession::wait_for_finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finished_ || stopped_; });
}

void WorkerSession::fail_waiting(const std::string& what, std::chrono::milliseconds timeout) const {
  if (stopped_) throw Error(ErrorCode::kInterrupted, fmt::format("stopped while waiting for {}", what));
  throw Error(ErrorCode::kRunFailed, fmt::format("{} did not come within {}", what, seconds(timeout)), 0,
              "rendezvous");
}

void WorkerSession::send(const Message& message) {
  const std::lock_guard lock(send_mutex_);
  channel_.send(message);
}

void WorkerSession::on_stop(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  on_stop_ = std::move(action);
  if (stopped_ && on_stop_) on_stop_();
}

void WorkerSession::watch(std::function<std::optional<Error>()> trouble) {
  const std::lock_guard lock(mutex_);
  watch_ = std::move(trouble);
}

void WorkerSession::answer_of(const std::filesystem::path& folder, bool is_program) {
  const std::lock_guard lock(mutex_);
  flights_folder_ = folder;
  reports_program_ = is_program;
}

void WorkerSession::answer(const FlightRequest& request) {
  std::filesystem::path folder;
  {
    const std::lock_guard lock(mutex_);
    folder = flights_folder_;
  }
  for (const Flight& flight : own_flights(folder, request.request)) send(flight);
}

bool WorkerSession::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

std::optional<Error> WorkerSession::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void WorkerSession::stop(std::optional<Error> trouble) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  stopped_ = true;
  trouble_ = std::move(trouble);
  state_.request_stop();
  // Under the lock, so that whoever withdraws the action knows that it does not run any more.
  if (on_stop_) on_stop_();
  changed_.notify_all();
}

void WorkerSession::ping() {
  ++ping_id_;
  ping_.sent_ns = now_ns();
  send(Ping{ping_id_});
}

void WorkerSession::follow_clock() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_reading_) return;
  next_reading_ = now + std::max<std::chrono::steady_clock::duration>(kClockEvery, (now - joined_at_) / 512);
  const std::lock_guard lock(mutex_);
  if (pings_left_ != 0 && !is_following_) return;  // somebody waits for a reading of his own
  pings_.clear();
  pings_left_ = kPingsWhileRunning;
  is_following_ = true;
  ping();
}

void WorkerSession::take(Message message, std::int64_t received_ns) {
  if (const auto* stopped = std::get_if<Stop>(&message)) {
    {
      const std::lock_guard lock(mutex_);
      stop_reason_ = stopped->reason;
      exit_code_of_launcher_ = stopped->exit_code;
    }
    return stop(std::nullopt);
  }
  if (const auto* hold = std::get_if<Hold>(&message)) return send(Holding{hold->round, state_.hold(hold->lead_ns)});
  if (const auto* request = std::get_if<FlightRequest>(&message)) return answer(*request);
  if (const auto* last = std::get_if<LastStep>(&message))
    return state_.set_last_step(last->step, last->checkpoint);
  const std::lock_guard lock(mutex_);
  if (auto* assignment = std::get_if<Assignment>(&message)) {
    joined_at_ = std::chrono::steady_clock::now();
    if (assignment->follows_clock) next_reading_ = joined_at_;
    heartbeat_ = heartbeat_for(assignment->world_size);
    assignment_ = std::move(*assignment);
    joined_ = true;
  } else if (auto* value = std::get_if<KvValue>(&message)) {
    if (const auto waiting = gets_.find(value->id); waiting != gets_.end())
      waiting->second = std::move(value->value);
  } else if (auto* gathered = std::get_if<KvParts>(&message)) {
    if (const auto waiting = gathers_.find(gathered->id); waiting != gathers_.end()) waiting->second = std::move(*gathered);
  } else if (const auto* pong = std::get_if<Pong>(&message)) {
    if (pings_left_ == 0 || pong->id != ping_id_) return;
    pings_.push_back({ping_.sent_ns, pong->reference_ns, received_ns});
    if (--pings_left_ > 0) {
      ping();
    } else if (is_following_) {
      is_following_ = false;
      send(ClockRead{reading_from_pings(pings_)});
    }
  } else if (const auto* finish = std::get_if<Finish>(&message)) {
    exit_code_of_launcher_ = finish->exit_code;
    finished_ = true;
  }
  changed_.notify_all();
}

void WorkerSession::heartbeat() {
  if (std::optional<StepTimes> times = state_.step_times()) send(*times);
  Heartbeat beat = state_.snapshot();
  beat.peak_memory_bytes = peak_memory_bytes();
  beat.sigterm_pending = sigterm_pending();
  {
    const std::lock_guard lock(mutex_);
    if (reports_program_) beat.collective = collectives_of_program(flights_folder_);
  }
  send(beat);
  const auto beats_a_second = static_cast<unsigned>(std::max<std::int64_t>(1, std::chrono::milliseconds(1000) / heartbeat_));
  if (++beats_ % beats_a_second == 0) {
    if (const auto time = state_.own_time()) send(*time);
  }
  if (files_ != nullptr) files_->ship(kShipAtOnceBytes);
  std::optional<Error> trouble;
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ && watch_) trouble = watch_();
  }
  if (trouble) stop(std::move(trouble));
}

void WorkerSession::control_loop() {
  auto next_heartbeat = std::chrono::steady_clock::now();
  while (!ending_) {
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(next_heartbeat - std::chrono::steady_clock::now());
    pollfd fds[] = {{channel_.fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    ::poll(fds, 2, static_cast<int>(std::max<std::int64_t>(0, wait.count())));
    const std::int64_t received_ns = now_ns();
    try {
      for (Message& message : channel_.read_available()) take(std::move(message), received_ns);
      if (eventfd_t count = 0; ::eventfd_read(wake_.get(), &count) == 0) {
        const std::lock_guard lock(mutex_);
        if (pings_left_ == kPings) ping();
      }
      if (std::chrono::steady_clock::now() >= next_heartbeat) {
        if (joined_) heartbeat();
        follow_clock();
        next_heartbeat = std::chrono::steady_clock::now() + heartbeat_;
      }
    } catch (const std::exception& error) {
      stop(as_error(error));
    }
    if (channel_.closed()) {
      stop(Error(ErrorCode::kInterrupted, "the launcher is gone"));
      if (on_disconnect_) on_disconnect_();
      return;
    }
  }
}

}  // namespace ddbench::launch
