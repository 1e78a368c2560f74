#include "harness/experiment/run/launch_relay.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/clock.h"
#include "core/threads/signals_blocked.h"
#include "harness/experiment/ingest/program_progress.h"

namespace ddbench::experiment {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kIngestEvery_ns = 2'000'000'000;
constexpr std::int64_t kProgramEvery_ns = 500'000'000;
constexpr std::int64_t kMostShowing_ns = 200'000'000;  // of what a program printed, at a time

std::vector<int> nodes_of(const RunCase& run_case) {
  std::vector<int> nodes;
  for (int rank = 0; rank < run_case.world_size(); ++rank) nodes.push_back(rank / run_case.gpus_per_node);
  return nodes;
}

}  // namespace

LaunchRelay::LaunchRelay(const RunCase& run_case, std::uint32_t first_measured, const std::filesystem::path& run_directory,
                         SpanIngest& ingest, ProgramOutput& output, RunObserver& observer)
    : tracker_(run_case, first_measured),
      live_(nodes_of(run_case), std::max(first_measured, 1U)),
      run_directory_(run_directory),
      ingest_(ingest),
      output_(output),
      observer_(observer),
      last_ingest_ns_(now_ns()) {}

void LaunchRelay::on_network(const std::string& network, const std::string& note) {
  observer_.on_network(network, note);
}

void LaunchRelay::on_progress(const launch::RankProgress& progress) {
  if (output_.expected()) return;  // show_program()
  if (progress.collectives_ns > 0) live_.add({progress.rank, progress.step, progress.collectives_ns});
  observer_.on_progress(tracker_.update(progress.rank, progress.step, progress.loss, now_ns()));
}

void LaunchRelay::on_own_time(int rank, const launch::RankOwnTime& time) {
  live_.add_own({rank, time.steps, time.compute_ns, time.data_ns, time.cpu_wait_ns});
}

/// What a program prints, and where it stands.
void LaunchRelay::show_program() {
  for (const std::int64_t until_ns = now_ns() + kMostShowing_ns; output_.show(observer_) && now_ns() < until_ns;) continue;
  if (!output_.expected() || now_ns() - last_program_ns_ < kProgramEvery_ns) return;
  last_program_ns_ = now_ns();
  if (const auto progress = read_program_progress(run_directory_)) observer_.on_progress(*progress);
}

void LaunchRelay::report_status() {
  if (output_.expected()) {
    for (const analyzer::LiveReading& reading : read_program_readings(run_directory_)) live_.add(reading);
  }
  const bool is_new = live_.look(now_ns());
  observer_.on_status({live_.steps(), live_.steps_per_s(), live_.communication_share(), live_.verdict(), is_new});
}

void LaunchRelay::on_tick() {
  show_program();
  report_status();
  if (ingesting_.valid()) {
    if (ingesting_.wait_for(0s) != std::future_status::ready) return;
    take_ingested();
  }
  if (failure_ || now_ns() - last_ingest_ns_ < kIngestEvery_ns) return;
  last_ingest_ns_ = now_ns();
  start_ingest();
}

std::string LaunchRelay::interruption() {
  return failure_ ? "stopped because the store failed" : observer_.interruption();
}

void LaunchRelay::finish() {
  if (ingesting_.valid()) {
    if (ingesting_.wait_for(1s) != std::future_status::ready) {
      observer_.on_wait("the ranks have ended; waiting for the store, which another program may have locked");
    }
    take_ingested();
  }
  if (failure_) std::rethrow_exception(failure_);
}

/// The first tick comes after the launcher has forked for the last time.
void LaunchRelay::start_ingest() {
  try {
    const SignalsBlocked blocked;
    ingesting_ = std::async(std::launch::async, [this] { ingest(); });
  } catch (const std::system_error&) {
    // There is no thread left: the ranks may have taken the last. It is done when this one asks for it.
    ingesting_ = std::async(std::launch::deferred, [this] { ingest(); });
    take_ingested();
  }
}

void LaunchRelay::ingest() {
  ingest_.show_life();
  const std::int64_t begin_ns = now_ns();
  while (ingest_.poll() && now_ns() - begin_ns < kIngestEvery_ns) {
  }
}

void LaunchRelay::take_ingested() {
  try {
    ingesting_.get();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

}  // namespace ddbench::experiment
