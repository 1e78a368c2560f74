#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "harness/experiment/ingest/run_observer.h"
#include "harness/experiment/mlflow/live_log.h"

namespace ddbench::experiment {

/// Passes everything on to another observer, and logs how the run goes, about once a second: "live.loss", "live.samples_per_s" (over the
/// last seconds), "live.steps_per_s", "live.communication_share", and of reference workloads the learning rate of the steps since. The
/// server's thread begins with the first status, when all ranks have been started.
class LoggingObserver : public RunObserver {
 public:
  using MakeLog = std::function<std::unique_ptr<LiveLog>(const store::RunRecord&)>;

  /// `make_log` is called with the run as it starts.
  LoggingObserver(RunObserver& next, MakeLog make_log) : next_(next), make_log_(std::move(make_log)) {}

  void on_start(const store::RunRecord& run) override;
  void on_network(const std::string& network, const std::string& note) override { next_.on_network(network, note); }
  void on_progress(const LiveProgress& progress) override;
  void on_output(int rank, const std::string& line) override { next_.on_output(rank, line); }
  void on_wait(const std::string& what) override { next_.on_wait(what); }
  bool interrupted() override { return next_.interrupted(); }
  std::string interruption() override { return next_.interruption(); }
  bool preempted() override { return next_.preempted(); }
  bool asked_where() override { return next_.asked_where(); }
  void on_where(const std::string& ranks) override { next_.on_where(ranks); }
  void on_status(const LiveStatus& status) override;
  void on_hang(const std::string& who) override { next_.on_hang(who); }

  /// Null before on_start.
  LiveLog* log() noexcept { return log_.get(); }
  /// Whether the learning rate of the step (counted from 0) was logged.
  bool has_rate_of(std::uint32_t step) const { return rates_.contains(step); }

 private:
  void log_rates(std::int64_t time_ms);

  RunObserver& next_;
  MakeLog make_log_;
  std::unique_ptr<LiveLog> log_;
  RunCase run_case_;
  LiveProgress last_;
  std::set<std::uint32_t> rates_;
};

}  // namespace ddbench::experiment
