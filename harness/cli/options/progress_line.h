#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/cli/options/metrics_file.h"
#include "harness/experiment/run/execute_run.h"

namespace ddbench::cli {

/// Reports the progress of a run on standard error: one line that is redrawn on a terminal, otherwise a line
/// every ten seconds; nothing with `quiet`. While it lives, SIGINT (Ctrl-C), SIGTERM, SIGHUP (a closed
/// terminal) and SIGQUIT end the run in order; a second SIGINT or SIGQUIT ends the program at once. SIGHUP
/// and SIGQUIT stay ignored where they were (nohup). SIGUSR1 requests a report of where the ranks are.
class ProgressLine : public experiment::RunObserver {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine() override;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What stands before the next run's progress: "baseline on 1 GPU", "[3/9] 2 nodes x 4".
  void set_heading(std::string heading);

  void on_start(const store::RunRecord& run) override;
  void on_network(const std::string& network, const std::string& note) override;
  void on_progress(const experiment::LiveProgress& progress) override;
  void on_output(int rank, const std::string& line) override;
  void on_wait(const std::string& what) override;
  bool interrupted() override;
  std::string interruption() override;
  bool preempted() override;
  bool asked_where() override;
  void on_where(const std::string& ranks) override;
  void on_hang(const std::string& who) override;
  void on_status(const experiment::LiveStatus& status) override;
  /// Where how the run goes is written about once a second, also with `quiet`.
  void set_metrics_file(MetricsFile file) { metrics_file_ = std::move(file); }
  /// Ends the renewing line, so that other output starts on a line of its own.
  void finish();

 private:
  using SignalHandler = void (*)(int);

  void show(const std::string& line);
  void watch(int signal, SignalHandler handler, bool even_if_ignored);

  bool quiet_;
  bool terminal_;
  std::string heading_;
  MetricsFile metrics_file_;
  std::string run_id_;
  std::string run_name_;
  int ranks_of_output_ = 0;  ///< that share one output, a node's; 0: each rank has its own
  std::string hang_;
  std::uint64_t hang_at_step_ = 0;
  std::int64_t last_shown_ns_ = 0;
  bool end_is_shown_ = false;
  std::vector<std::pair<int, SignalHandler>> before_;
  bool line_open_ = false;
};

}  // namespace ddbench::cli
