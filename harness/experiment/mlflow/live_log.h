#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/experiment/mlflow/tracking_run.h"

namespace ddbench::cuda {
class GpuSource;
}

namespace ddbench::experiment {

/// How a run is called on the server, and what is known when it begins.
struct LoggedRun {
  std::string name;
  std::int64_t start_ms = 0;
  std::map<std::string, std::string> params;
};

/// What is known when it has ended.
struct LoggedEnd {
  std::string status;  ///< TrackingRun::end
  std::int64_t end_ms = 0;
  std::map<std::string, std::string> tags;
  std::vector<TrackedMetric> metrics;
};

/// Logs one run while it goes on, on a thread of its own: who adds a value never waits. While the server gives no answer, values are kept
/// (the newest kMostKept), and it is asked again after 1, 2, 4, ... 30 s. A refusal ends the log. finish() waits for kLastWords at most,
/// and not at all for a server that was not there.
class LiveLog {
 public:
  static constexpr std::size_t kMostKept = 200'000;
  static constexpr std::chrono::milliseconds kLastWords{10'000};
  using MakeClient = std::function<std::unique_ptr<http::Client>()>;

  LiveLog(TrackingSettings settings, LoggedRun run, MakeClient make_client = &http::make_client);
  ~LiveLog();
  LiveLog(const LiveLog&) = delete;
  LiveLog& operator=(const LiveLog&) = delete;

  /// Begins the thread; idempotent. Not before the last fork of the process while the run goes on.
  void start();
  /// From any thread. Values that are not finite are left out: MLflow has no place for them.
  void add(TrackedMetric metric);
  /// A run that start() was never called for is logged now. Returns a sentence for people: where it was logged, and what was not.
  std::string finish(LoggedEnd end);

 private:
  void work();
  bool send_some();
  void connect();
  std::chrono::milliseconds time_for_a_request() const;
  void sample_machine(cuda::GpuSource* gpus);
  std::string outcome() const;

  const TrackingSettings settings_;
  const LoggedRun run_;
  const MakeClient make_client_;
  std::optional<TrackingRun> tracking_;  // of the thread
  bool params_are_sent_ = false;         // likewise
  bool end_is_sent_ = false;             // likewise
  std::int64_t samples_ = 0;             // likewise: of the machine

  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::deque<TrackedMetric> waiting_;
  std::optional<LoggedEnd> end_;
  std::chrono::steady_clock::time_point last_words_at_;
  std::size_t sent_ = 0, dropped_ = 0;
  std::string problem_;  // of the last try; empty: none
  bool refused_ = false;
  std::thread thread_;
};

}  // namespace ddbench::experiment
