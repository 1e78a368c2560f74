#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "harness/experiment/mlflow/tracking_settings.h"
#include "harness/http/http.h"

namespace ddbench::experiment {

struct TrackedMetric {
  std::string key;  ///< letters, digits, _ - . / and blanks
  double value = 0;
  std::int64_t time_ms = 0;  ///< since the Unix epoch
  std::int64_t step = 0;
};

/// An answer that asking again does not mend: 400, 401, 403, 404, or what is no answer of MLflow.
struct TrackingRefused {
  std::string reason;
};

/// A run on a tracking server, through MLflow's REST API 2.0 (https://mlflow.org/docs/latest/rest-api.html: experiments/get-by-name,
/// experiments/create, runs/create, runs/log-batch, runs/update). Each call is one request or two, and waits for the answer. Throws
/// TrackingRefused, and Error{kEnvironment} where no answer came or the server has a problem of its own (429, 5xx).
class TrackingRun {
 public:
  /// What log-batch takes at most.
  static constexpr std::size_t kMostMetrics = 1000;
  static constexpr std::size_t kMostParams = 100;
  static constexpr std::size_t kMostTags = 100;

  /// `time_left`: asked before each request for the time that it may take; 0 or less: none is sent, and Error{kEnvironment} says so.
  TrackingRun(TrackingSettings settings, std::unique_ptr<http::Client> client, std::function<std::chrono::milliseconds()> time_left);

  /// Finds or makes the experiment, and creates the run; a child of TrackingSettings::parent_run where there is one.
  void create(const std::string& name, std::int64_t start_ms);
  bool is_created() const noexcept { return !run_id_.empty(); }
  const std::string& run_id() const noexcept { return run_id_; }

  /// At most kMostMetrics.
  void log(std::span<const TrackedMetric> metrics);
  void log(const std::map<std::string, std::string>& params, const std::map<std::string, std::string>& tags);
  /// "FINISHED", "FAILED" or "KILLED".
  void end(const std::string& status, std::int64_t end_ms);

 private:
  std::string send(const char* method, const std::string& call, const std::string& body, bool may_lack = false);
  std::string experiment();

  TrackingSettings settings_;
  std::unique_ptr<http::Client> client_;
  std::function<std::chrono::milliseconds()> time_left_;
  std::string run_id_;
  int unanswered_creates_ = 0;
};

}  // namespace ddbench::experiment
