#pragma once

#include <string>

#include "analyzer/store/rows/run_store.h"
#include "harness/experiment/ingest/live_progress.h"

namespace ddbench::experiment {

/// What a person or a log sees of a run while it runs. Called on the thread of execute_run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_start(const store::RunRecord& run) = 0;
  virtual void on_network(const std::string& network, const std::string& note) = 0;
  virtual void on_progress(const LiveProgress& progress) = 0;
  /// Whole lines that the program of a rank has printed, without their ends.
  virtual void on_output(int rank, const std::string& line) = 0;
  /// The ranks are gone, and this takes its time: what is waited for, and why it may last.
  virtual void on_wait(const std::string& what) = 0;
  virtual bool interrupted() = 0;  ///< true: stop the ranks and store the run as interrupted
  /// Begins the reason that is stored with it: "interrupted by SIGHUP (its terminal was closed)".
  virtual std::string interruption() { return "interrupted"; }
  /// True: write a last checkpoint, where the case writes some, end the ranks and store the run as preempted.
  virtual bool preempted() { return false; }
  /// True once for each time that a person asked where the ranks are; on_where() gets the answer, several lines.
  virtual bool asked_where() { return false; }
  virtual void on_where(const std::string& /*ranks*/) {}
  /// About once a second while the ranks live.
  virtual void on_status(const LiveStatus& /*status*/) {}
  /// As launch::LaunchObserver::on_hang.
  virtual void on_hang(const std::string& /*who*/) {}
};

}  // namespace ddbench::experiment
