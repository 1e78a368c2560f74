#include "probes/preload/session/process_recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/facts/facts.h"
#include "core/program/loader_epoch.h"
#include "core/program/rank_gpu.h"
#include "core/world_place.h"
#include "probes/preload/session/kernel_probe.h"
#include "probes/preload/session/live_progress.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/preload/session/program_identity.h"
#include "probes/recorder/spool_origin.h"

namespace ddbench::inject {
namespace {

// Of each recording thread. A foreign program may have many.
constexpr std::size_t kRingCapacity = std::size_t{1} << 14;

std::mutex mutex;  // guards all below; atomics are also read without it
std::atomic<host::Recorder*> current{nullptr};
host::Recorder* opened_here = nullptr;  // never deleted: threads may record until the process is gone
std::atomic<bool> decided{false};       // opened, adopted, or not to be opened
bool is_programs = false;               // the program has one of its own, at times
bool ended = false;                     // what is measured is over: there will be no other one, in its children neither
std::atomic<unsigned> generations{1};

const char* value_of(const char* variable) noexcept {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// A program that is started once per node starts its ranks itself, and its launcher sets their numbers. Those
// of torchrun and DeepSpeed, which set RANK and LOCAL_RANK, inherit the numbers of the launcher's own task.
// RANK alone (Kubeflow) may be set by a batch script for the whole job, and a batch script has a Slurm
// number, but is not a task.
std::optional<int> rank_of_process() noexcept {
  const bool has_local_rank = value_of("LOCAL_RANK") != nullptr;
  const bool is_slurm_task = value_of("SLURM_STEP_NUM_TASKS") != nullptr;
  for (const char* variable : {"DDBENCH_RANK", has_local_rank ? "RANK" : "", "OMPI_COMM_WORLD_RANK",
                               "PMI_RANK", "PMIX_RANK", is_slurm_task ? "SLURM_PROCID" : "", "RANK"}) {
    if (const char* const rank = value_of(variable)) return std::atoi(rank);
  }
  return std::nullopt;
}

// According to a launcher inside the program: torchrun, mpirun.
std::optional<WorldPlace> place_of_environment() noexcept {
  for (const auto& [rank, ranks] :
       {std::pair{"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}}) {
    if (value_of(rank) == nullptr || value_of(ranks) == nullptr) continue;
    const WorldPlace place{std::atoi(value_of(rank)), std::atoi(value_of(ranks))};
    if (place.ranks > 1 && place.rank >= 0 && place.rank < place.ranks) return place;
  }
  return std::nullopt;
}

void stop_recording() noexcept {
  conclude_kernels();      // first: it waits for the GPU
  conclude_nccl_events();  // programs end without their communicators'
  try {
    const std::lock_guard lock(mutex);
    if (opened_here != nullptr) opened_here->stop();
  } catch (...) {  // the run's launcher finds the spool without its end
  }
}

// A forked child has no drain thread: if it records at all, it gets a spool of its own. What the parent
// recorded stays the parent's.
void forget_parent() noexcept {
  close_live_counts();
  set_nccl_plugin(nullptr);  // one of the parent's threads may hold its lock
  set_kernel_probe(nullptr);
  current.store(nullptr);
  opened_here = nullptr;
  decided.store(false);
  is_programs = false;
  generations.fetch_add(1);
  mutex.unlock();
}

// Once, before the first recorder.
void watch_process() {
  static const int registered = [] {
    std::atexit(stop_recording);
    return ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, forget_parent);
  }();
  static_cast<void>(registered);
}

void open(const std::string& prefix, int rank, const char* run_id) {
  host::RecorderOptions options;
  options.spool = prefix + "." + std::to_string(::getpid()) + ".spool";
  options.ring_capacity = kRingCapacity;
  options.rank = rank;
  options.run_id = run_id;
  watch_process();
  opened_here = new host::Recorder(options);
  if (const auto place = place_of_environment()) {
    opened_here->intern(world_place_name(*place));
    note_flight_place(place->rank, place->ranks);
  }
  for (const std::string& name : names_of_own_files()) opened_here->intern(name);
  current.store(opened_here);
  generations.fetch_add(1);
}

void open_for_rank() {
  const char* const prefix = std::getenv("DDBENCH_SPOOL");
  const std::optional<int> rank = rank_of_process();
  const char* const run_id = std::getenv("DDBENCH_RUN_ID");
  if (prefix == nullptr || !rank || run_id == nullptr) return;
  // Before there is a recorder: a file that the process makes is noted in it, which waits for this thread's lock.
  open_live_counts(prefix);
  open(prefix, *rank, run_id);
}

void open_alone(int rank) {
  const int known = rank_of_process().value_or(rank);
  const char* const given = value_of("DDBENCH_RUN_ID");
  const std::string run_id = given != nullptr ? given : host::to_run_id(host::origin_of_this_process());
  // A process of a run that has no rank by itself. Its spools are where the run collects them.
  if (const char* const prefix = value_of("DDBENCH_SPOOL")) {
    open_live_counts(prefix);
    return open(prefix, known, run_id.c_str());
  }
  const char* const folder = std::getenv("DDBENCH_SPOOL_DIR");
  open(std::string(folder != nullptr ? folder : ".") + "/rank" + std::to_string(known), known, run_id.c_str());
}

// A program runs on, whatever becomes of its measurement: where a spool cannot be written, nothing is
// recorded.
template <typename Open>
void decide(bool wanted, const Open& open_it) noexcept {
  if (!wanted) return;
  try {
    const std::lock_guard lock(mutex);
    decided.store(true);
    if (current.load() == nullptr && !is_programs && !ended) open_it();
  } catch (...) {
  }
}

}  // namespace

RecorderAccess::RecorderAccess() noexcept {
  decide(!decided.load(std::memory_order_acquire), open_for_rank);
  lock_ = std::unique_lock(mutex);
  recorder_ = current.load();
  generation_ = generations.load();
}

RecorderAccess::RecorderAccess(int rank) noexcept : RecorderAccess() {
  if (recorder_ != nullptr) return;
  lock_.unlock();
  decide(true, [rank] { open_alone(rank); });
  lock_.lock();
  recorder_ = current.load();
  generation_ = generations.load();
}

void report_program_file(const char* folder, const char* name) noexcept try {
  const std::vector<std::string> names = names_of_file(folder, name);
  const RecorderAccess access;
  if (access.get() == nullptr) return;
  for (const std::string& one : names) access.get()->intern(one);
} catch (...) {
}

bool report_inputs(const char* name) noexcept try {
  const std::optional<ReportedFact> fact = reported_fact(name);
  const bool are_gradients = fact && fact->key == fact_key<"workload.gradient_bytes">.name;
  if (!are_gradients && !parse_loader_epoch(name) && !parse_rank_gpu(name)) return false;
  const RecorderAccess access;
  if (access.get() == nullptr) return false;
  access.get()->intern(name);
  return true;
} catch (...) {
  return false;
}

bool recorder_is_open() noexcept {
  return current.load(std::memory_order_relaxed) != nullptr;
}

void end_recording() noexcept {
  stop_recording();
  pause_nccl_events(true);  // what the program asks of NCCL from now on costs it no events
  const std::lock_guard lock(mutex);
  ended = true;
  current.store(nullptr);
  generations.fetch_add(1);
}

unsigned recorder_generation() noexcept {
  return generations.load(std::memory_order_relaxed);
}

void adopt_recorder(host::Recorder* recorder) noexcept {
  watch_process();
  const std::lock_guard lock(mutex);
  decided.store(true);
  is_programs = true;
  current.store(recorder);
  generations.fetch_add(1);
}

}  // namespace ddbench::inject
