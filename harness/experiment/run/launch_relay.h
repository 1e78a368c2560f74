#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <string>

#include "analyzer/diagnose/live/live_verdict.h"
#include "harness/experiment/ingest/program_output.h"
#include "harness/experiment/ingest/span_ingest.h"
#include "harness/experiment/run/execute_run.h"
#include "harness/launch/launch.h"

namespace ddbench::experiment {

/// Between the launcher and a run's observer: passes progress on, and moves spools into the store every few
/// seconds, on a thread of its own: however long a locked store, a slow disk or a crowded machine holds that
/// up, Ctrl-C and a dead rank are answered. An error of the store must not unwind through the launcher while
/// ranks run: it stops the ranks and is thrown by finish(), when they are gone.
class LaunchRelay : public launch::LaunchObserver {
 public:
  /// `first_measured`: step.
  LaunchRelay(const RunCase& run_case, std::uint32_t first_measured, const std::filesystem::path& run_directory, SpanIngest& ingest, ProgramOutput& output,
              RunObserver& observer);

  void on_network(const std::string& network, const std::string& note) override;
  void on_progress(const launch::RankProgress& progress) override;
  void on_own_time(int rank, const launch::RankOwnTime& time) override;
  void on_tick() override;
  bool interrupted() override { return failure_ || observer_.interrupted(); }
  std::string interruption() override;
  bool preempted() override { return observer_.preempted(); }
  bool asked_where() override { return observer_.asked_where(); }
  void on_where(const std::string& ranks) override { observer_.on_where(ranks); }
  void on_hang(const std::string& who) override { observer_.on_hang(who); }

  /// When the ranks are gone. From here on the store is the caller's alone again.
  void finish();

 private:
  void show_program();
  void report_status();
  void start_ingest();
  void ingest();
  void take_ingested();

  ProgressTracker tracker_;
  analyzer::LiveVerdict live_;
  std::filesystem::path run_directory_;
  std::int64_t last_program_ns_ = 0;
  SpanIngest& ingest_;
  ProgramOutput& output_;
  RunObserver& observer_;
  std::int64_t last_ingest_ns_;
  std::exception_ptr failure_;
  std::future<void> ingesting_;  // waited for before what it uses ends
};

}  // namespace ddbench::experiment
