#include "session.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "ddbench/record/clock.h"

namespace ddbench::inject {
namespace {

// One ring a recording thread. A program may start threads without end; what comes after these is not
// recorded.
constexpr std::size_t kRingCapacity = std::size_t{1} << 14;
constexpr int kMostThreads = 256;

constexpr std::array<const char*, kCallNameCount> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "gather",
    "scatter",    "all_to_all", "barrier",        "onednn",    "blas",   "step"};

struct Session {
  explicit Session(const host::RecorderOptions& options) : recorder(options) {
    for (std::size_t i = 0; i < kNames.size(); ++i) name_ids[i] = recorder.intern(kNames[i]);
  }
  host::Recorder recorder;
  std::array<std::uint32_t, kCallNameCount> name_ids{};
  std::atomic<int> threads{0};
};

struct ThreadState {
  unsigned generation = 0;  // of the process that the track belongs to
  int depth = 0;
  host::Recorder::Track* track = nullptr;
};

std::mutex mutex;                        // guards opening
std::atomic<Session*> session{nullptr};  // never deleted: threads may record until the process is gone
std::atomic<bool> opened{false};         // or not to be opened
std::atomic<unsigned> generation{1};     // counts forks
thread_local ThreadState thread_state;

bool is_main_thread() noexcept {
  return ::syscall(SYS_gettid) == ::getpid();
}

void stop_recording() noexcept {
  Session* const ending = session.load();
  if (ending == nullptr) return;
  try {
    ending->recorder.stop();
  } catch (...) {  // the run's launcher finds the spool without its end
  }
}

// A forked child has no drain thread: if it calls a library at all, it gets a spool of its own. What the
// parent recorded stays the parent's.
void forget_parent() noexcept {
  session.store(nullptr);
  opened.store(false);
  generation.fetch_add(1);
  mutex.unlock();
}

// A program that is started once a node starts its ranks itself, and its launcher tells them who they are:
// Open MPI, MPICH and its kin, Slurm, torchrun.
const char* rank_of_process() noexcept {
  for (const char* variable :
       {"DDBENCH_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"}) {
    const char* const rank = std::getenv(variable);
    if (rank != nullptr && *rank != '\0') return rank;
  }
  return nullptr;
}

void open() noexcept {
  const std::lock_guard lock(mutex);
  if (opened.load()) return;
  opened.store(true);
  const char* const prefix = std::getenv("DDBENCH_SPOOL");
  const char* const rank = rank_of_process();
  const char* const run_id = std::getenv("DDBENCH_RUN_ID");
  if (prefix == nullptr || rank == nullptr || run_id == nullptr) return;
  try {
    host::RecorderOptions options;
    options.spool = std::string(prefix) + "." + std::to_string(::getpid()) + ".spool";
    options.ring_capacity = kRingCapacity;
    options.rank = std::atoi(rank);
    options.run_id = run_id;
    session.store(new Session(options));
  } catch (...) {  // a program runs on, whatever becomes of its measurement
    return;
  }
  static const int registered = [] {
    std::atexit(stop_recording);
    return ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, forget_parent);
  }();
  static_cast<void>(registered);
}

Session* current() noexcept {
  if (!opened.load(std::memory_order_acquire)) open();
  return session.load(std::memory_order_acquire);
}

host::Recorder::Track* track_of_thread(Session& recording, Lane lane) noexcept {
  ThreadState& state = thread_state;
  const unsigned now = generation.load(std::memory_order_relaxed);
  if (state.generation == now) return state.track;
  state.generation = now;
  state.track = nullptr;
  if (recording.threads.fetch_add(1) >= kMostThreads) return nullptr;
  try {
    state.track = &recording.recorder.track(is_main_thread() ? Lane::kMain : lane);
  } catch (...) {
  }
  return state.track;
}

}  // namespace

Call::Call(CallName name, SpanKind kind, std::uint64_t bytes, std::uint64_t correlation) noexcept {
  if (thread_state.depth++ > 0) return;
  Session* const recording = current();
  if (recording == nullptr) return;
  track_ = track_of_thread(*recording, kind == SpanKind::kCommunication ? Lane::kCommunication : Lane::kMain);
  if (track_ == nullptr) return;
  span_.kind = kind;
  span_.name_id = recording->name_ids[static_cast<std::size_t>(name)];
  span_.bytes = bytes;
  span_.correlation = correlation;
  span_.begin_ns = now_ns();
}

Call::~Call() {
  --thread_state.depth;
  if (track_ == nullptr) return;
  span_.end_ns = now_ns();
  track_->record(span_);
}

void mark_step() noexcept {
  static std::atomic<std::uint32_t> steps{0};
  static std::atomic<std::int64_t> begin_ns{0};
  Session* const recording = current();
  if (recording == nullptr) return;
  host::Recorder::Track* const track = track_of_thread(*recording, Lane::kMain);
  const std::int64_t end_ns = now_ns();
  const std::int64_t last_ns = begin_ns.exchange(end_ns);
  if (track == nullptr || last_ns == 0) return;
  Span span;
  span.begin_ns = last_ns;
  span.end_ns = end_ns;
  span.kind = SpanKind::kStep;
  span.name_id = recording->name_ids[static_cast<std::size_t>(CallName::kStep)];
  span.step = steps.fetch_add(1);
  track->record(span);
}

}  // namespace ddbench::inject
