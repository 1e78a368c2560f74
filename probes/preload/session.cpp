#include "probes/preload/session.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <type_traits>

#include "core/clock.h"
#include "core/cpu_wait.h"
#include "core/program_phase.h"
#include "probes/preload/hook_cost.h"
#include "probes/preload/session/live_progress.h"
#include "probes/preload/session/process_recorder.h"
#include "probes/preload/thread_cpu_wait.h"
#include "probes/preload/torch_operators.h"
#include "probes/preload/track_pool.h"

namespace ddbench::inject {
namespace {

constexpr std::array<const char*, kCallNameCount> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "gather", "scatter", "all_to_all", "barrier", "scan",
    "neighbor_all_gather", "neighbor_all_to_all", "onednn", "blas", "step", kFileOpenedName.data(), kCpuWaitMain.data(),
    kCpuWaitCommunication.data(), kHookCost.data(), kDrainCost.data()};

using NameIds = std::array<std::uint32_t, kCallNameCount>;

// A program has some hundred operators, of which each runs again and again. Not more of them: each thread of the program has a ThreadState on
// its stack's memory.
struct OperatorId {
  const char* name = nullptr;
  std::uint32_t id = 0;
};

// Where the calling thread records, in the recorder of one generation.
struct ThreadState {
  unsigned generation = 0;
  bool ends = false;  // its track may be another's
  int depth = 0;
  host::Recorder::Track* track = nullptr;
  HookCost cost;
  NameIds name_ids{};
  std::array<OperatorId, 256> operator_ids{};
};

TrackPool tracks;  // of threads that record; guarded by RecorderAccess
std::atomic<std::int64_t> mark_cost_ns{0};
thread_local ThreadState thread_state;
static_assert(std::is_trivially_destructible_v<ThreadState>, "it outlives the thread's other variables");

/// Gives a thread's track back when it ends.
struct TrackOwner {
  ~TrackOwner() {
    thread_state.ends = true;
    thread_state.track = nullptr;
    if (track == nullptr || generation != recorder_generation()) return;
    const RecorderAccess access;
    if (access.generation() == generation) tracks.give_back(*track, generation);
  }

  host::Recorder::Track* track = nullptr;
  unsigned generation = 0;
};
thread_local TrackOwner track_owner;

bool is_main_thread() noexcept {
  return ::syscall(SYS_gettid) == ::getpid();
}

// Null: the thread does not record.
host::Recorder::Track* track_of_thread(Lane lane) noexcept {
  ThreadState& state = thread_state;
  if (state.generation == recorder_generation() || state.ends) return state.track;
  watch_torch_operators();
  const RecorderAccess access;
  state.generation = access.generation();
  state.track = nullptr;
  state.operator_ids = {};
  state.cost = {};
  if (access.get() == nullptr) return nullptr;
  try {
    for (std::size_t i = 0; i < kNames.size(); ++i) state.name_ids[i] = access.get()->intern(kNames[i]);
    const bool is_main = is_main_thread();
    state.track = tracks.take(*access.get(), state.generation, is_main ? Lane::kMain : lane);
    // The main thread ends with the process, and records until then.
    if (is_main) return state.track;
    track_owner.track = state.track;
    track_owner.generation = state.generation;
  } catch (...) {
  }
  return state.track;
}

std::uint32_t name_id(CallName name) noexcept {
  return thread_state.name_ids[static_cast<std::size_t>(name)];
}

void note_cpu_wait(host::Recorder::Track& track, ThreadActivity activity, std::int64_t at_ns) noexcept {
  note_cpu_wait(track, thread_state.generation,
                {name_id(CallName::kCpuWaitMain), name_id(CallName::kCpuWaitCommunication)}, activity, at_ns);
}

void record_cost(host::Recorder::Track& track, CallName name, std::int64_t at_ns, std::int64_t ns) noexcept {
  Span span;
  span.begin_ns = span.end_ns = at_ns;
  span.kind = SpanKind::kHost;
  span.name_id = name_id(name);
  span.bytes = static_cast<std::uint64_t>(ns);
  track.record(span);
}

// The drain thread's, by whichever thread comes by.
void record_drain_cost(host::Recorder::Track& track, std::int64_t at_ns) noexcept try {
  constexpr std::int64_t kBetween_ns = 100'000'000;
  static std::atomic<std::int64_t> recorded_at_ns{0};
  static std::atomic<std::int64_t> recorded_ns{0};
  std::int64_t last_ns = recorded_at_ns.load(std::memory_order_relaxed);
  if (at_ns - last_ns < kBetween_ns || !recorded_at_ns.compare_exchange_strong(last_ns, at_ns)) return;
  const RecorderAccess access;
  if (access.get() == nullptr || access.generation() != thread_state.generation) return;
  const std::int64_t cost_ns = access.get()->cost().drain_cpu_ns;
  const std::int64_t before_ns = recorded_ns.exchange(cost_ns);
  record_cost(track, CallName::kDrainCost, at_ns, cost_ns >= before_ns ? cost_ns - before_ns : cost_ns);  // a fork begins anew
} catch (...) {
}

void record_cost(host::Recorder::Track& track, std::int64_t at_ns) noexcept {
  record_cost(track, CallName::kHookCost, at_ns, thread_state.cost.take());
  record_drain_cost(track, at_ns);
}

// Of a thread that records; none where there is no memory for it.
std::optional<std::uint32_t> operator_id(const char* name) noexcept {
  ThreadState& state = thread_state;
  OperatorId& known =
      state.operator_ids[(reinterpret_cast<std::uintptr_t>(name) >> 4) % state.operator_ids.size()];
  if (known.name == name) return known.id;
  const RecorderAccess access;
  if (access.get() == nullptr || access.generation() != state.generation) return std::nullopt;
  try {
    known = {name, access.get()->intern(name)};
    return known.id;
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace

bool Call::begins(SpanKind kind) noexcept {
  if (thread_state.depth++ > 0) return false;
  entered_ns_ = thread_state.cost.enter();
  track_ = track_of_thread(kind == SpanKind::kCommunication ? Lane::kCommunication : Lane::kMain);
  span_.kind = kind;
  if (track_ != nullptr && kind == SpanKind::kCommunication)
    note_cpu_wait(*track_, ThreadActivity::kBeforeCollective, now_ns());
  return track_ != nullptr;
}

Call::Call(CallName name, SpanKind kind, std::uint64_t bytes, std::uint64_t correlation) noexcept {
  if (!begins(kind)) return;
  span_.name_id = name_id(name);
  span_.bytes = bytes;
  span_.correlation = correlation;
  start();
  if (kind != SpanKind::kCommunication) return;
  enter_collective(span_.begin_ns);
  flight_ = note_flight_begin(kNames[static_cast<std::size_t>(name)], correlation, span_.begin_ns);
}

Call::Call(const char* operator_name, SpanKind kind) noexcept {
  if (!begins(kind)) return;
  const std::optional<std::uint32_t> id = operator_id(operator_name);
  if (!id) track_ = nullptr;
  span_.name_id = id.value_or(0);
  start();
}

void Call::start() noexcept {
  span_.begin_ns = now_ns();
  if (entered_ns_ != 0) thread_state.cost.add(span_.begin_ns - entered_ns_);
}

Call::~Call() {
  --thread_state.depth;
  if (track_ == nullptr) return;
  span_.end_ns = now_ns();
  track_->record(span_);
  if (span_.kind == SpanKind::kCommunication) {
    leave_collective(span_.end_ns);
    note_flight_end(flight_, span_.end_ns);
  }
  note_cpu_wait(*track_, span_.kind == SpanKind::kCommunication ? ThreadActivity::kCollective : ThreadActivity::kOther,
                span_.end_ns);
  if (entered_ns_ == 0) return;
  const std::int64_t left_ns = now_ns();
  thread_state.cost.add(left_ns - span_.end_ns);
  if (thread_state.cost.is_due()) record_cost(*track_, left_ns);
}

PendingCall::PendingCall(const Collective& collective) noexcept
    : collective_(collective), begin_ns_(now_ns()), nested_(thread_state.depth > 0) {
  if (!nested_) flight_ = note_flight_begin(kNames[static_cast<std::size_t>(collective.name)], collective.correlation, begin_ns_);
}

void PendingCall::end() const noexcept {
  const std::int64_t end_ns = now_ns();
  note_flight_end(flight_, end_ns);  // whether its span is recorded or not
  host::Recorder::Track* const track = nested_ ? nullptr : track_of_thread(Lane::kCommunication);
  if (track == nullptr) return;
  Span span;
  span.kind = SpanKind::kCommunication;
  span.name_id = name_id(collective_.name);
  span.bytes = collective_.bytes;
  span.correlation = collective_.correlation;
  span.begin_ns = begin_ns_;
  span.end_ns = end_ns;
  track->record(span);
  thread_state.cost.add_whole(now_ns() - span.end_ns);
}

bool record_step(std::int64_t begin_ns, std::int64_t end_ns) noexcept {
  static std::atomic<std::uint32_t> steps{0};
  host::Recorder::Track* const track = track_of_thread(Lane::kMain);
  if (track == nullptr) return false;
  note_cpu_wait(*track, ThreadActivity::kOther, end_ns);
  if (begin_ns == 0) return false;
  Span span;
  span.begin_ns = begin_ns;
  span.end_ns = end_ns;
  span.kind = SpanKind::kStep;
  span.name_id = name_id(CallName::kStep);
  span.step = steps.fetch_add(1);
  track->record(span);
  const std::int64_t left_ns = now_ns();
  thread_state.cost.add_whole(left_ns - end_ns);
  record_cost(*track, left_ns);
  return true;
}

bool mark_step() noexcept {
  static std::atomic<std::int64_t> begin_ns{0};
  const std::int64_t end_ns = now_ns();
  return record_step(begin_ns.exchange(end_ns), end_ns);
}

void record_phase(ProgramPhase phase, std::int64_t begin_ns, std::uint64_t samples, std::uint64_t id) noexcept {
  host::Recorder::Track* const track = track_of_thread(Lane::kMain);
  if (track == nullptr) return;
  const std::optional<std::uint32_t> name = operator_id(kPhaseNames[static_cast<std::size_t>(phase)]);
  if (!name) return;
  Span span;
  span.end_ns = now_ns();
  span.begin_ns = begin_ns > 0 && begin_ns < span.end_ns ? begin_ns : span.end_ns;
  span.kind = SpanKind::kHost;
  span.name_id = *name;
  span.bytes = samples;
  span.correlation = id;
  track->record(span);
  note_cpu_wait(*track, ThreadActivity::kOther, span.end_ns);
  const std::int64_t left_ns = now_ns();
  thread_state.cost.add_whole(left_ns - span.end_ns + mark_cost_ns.load(std::memory_order_relaxed));
  record_cost(*track, left_ns);
}

void set_mark_cost(std::int64_t ns) noexcept {
  mark_cost_ns.store(ns, std::memory_order_relaxed);
}

void note_file_opened() noexcept {
  if (!recorder_is_open() || thread_state.depth > 0) return;
  host::Recorder::Track* const track = track_of_thread(Lane::kMain);
  if (track == nullptr) return;
  Span span;
  span.begin_ns = span.end_ns = now_ns();
  span.kind = SpanKind::kHost;
  span.name_id = name_id(CallName::kFileOpened);
  track->record(span);
}

}  // namespace ddbench::inject
