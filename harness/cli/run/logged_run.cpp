#include "harness/cli/run/logged_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/run/run_summary.h"
#include "core/error.h"
#include "harness/cli/options/output.h"
#include "harness/experiment/mlflow/logging_observer.h"
#include "harness/experiment/mlflow/tracking_settings.h"
#include "harness/launch/start/placement.h"
#include "reports/formats/mlflow/run_values.h"

namespace ddbench::cli {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

std::unique_ptr<experiment::LiveLog> log_of(const experiment::TrackingSettings& settings, const store::RunRecord& run) {
  experiment::LoggedRun logged;
  logged.name = run.run_case.name.empty() ? run.id : run.run_case.name;
  logged.start_ms = run.started_wall_ns / kNsPerMs;
  logged.params = reports::mlflow::case_params(run.run_case);
  return std::make_unique<experiment::LiveLog>(settings, std::move(logged));
}

std::string status_of(const store::RunRecord& run) {
  if (store::was_stopped(run.state)) return "KILLED";
  return run.state == store::RunState::kDone && run.valid ? "FINISHED" : "FAILED";
}

/// All that the run's report has for MLflow, but for learning rates that were logged while it went on.
experiment::LoggedEnd end_of(const store::RunRecord& run, const store::RunStore& store, const experiment::LoggingObserver& observer) {
  experiment::LoggedEnd end;
  end.status = status_of(run);
  end.end_ms = std::max(run.started_wall_ns, run.finished_wall_ns) / kNsPerMs;
  reports::mlflow::RunValues values = reports::mlflow::run_values(analyzer::summarize(store, run.id), store.steps(run.id));
  end.tags = std::move(values.tags);
  for (const auto& [key, points] : values.metrics) {
    for (const auto& point : points) {
      if (key == "learning_rate" && observer.has_rate_of(static_cast<std::uint32_t>(point.step))) continue;
      end.metrics.push_back({key, point.value, point.time_ms, point.step});
    }
  }
  return end;
}

void print_note(const std::string& words, bool quiet) {
  if (!quiet) print_error(printable(words) + "\n");
}

}  // namespace

store::RunRecord execute_logged_run(const RunCase& run_case, const experiment::ExecuteOptions& execute, const RunOptions& options,
                                    store::RunStore& store, experiment::RunObserver& observer) {
  const auto settings = options.no_mlflow ? Measured<experiment::TrackingSettings>::missing("")
                                          : experiment::tracking_settings(launch::environment_variables());
  if (!settings) {
    if (!settings.reason().empty()) print_note("MLflow: " + settings.reason(), options.quiet);
    return experiment::execute_run(run_case, execute, store, observer);
  }
  experiment::LoggingObserver logging(observer, [&](const store::RunRecord& run) { return log_of(*settings, run); });
  store::RunRecord run = experiment::execute_run(run_case, execute, store, logging);
  try {
    print_note(logging.log()->finish(end_of(run, store, logging)), options.quiet);
  } catch (const Error& error) {
    print_note("MLflow: " + error.message(), options.quiet);
  }
  return run;
}

}  // namespace ddbench::cli
