#include <fmt/format.h>

#include <cmath>

#include "core/clock.h"
#include "reports/formats/html/html.h"
#include "reports/formats/json/json.h"
#include "reports/formats/mlflow/file_store.h"
#include "reports/formats/mlflow/mlflow.h"
#include "reports/formats/mlflow/run_values.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

namespace fs = std::filesystem;

/// mlflow.entities.RunStatus
int status_of(const store::RunRecord& run) {
  switch (run.state) {
    case store::RunState::kRunning: return 1;
    case store::RunState::kDone: return run.valid ? 3 : 4;
    case store::RunState::kInterrupted:
    case store::RunState::kPreempted: return 5;
    default: return 4;
  }
}

std::string run_meta(const store::RunRecord& run, const MlflowRun& target, const std::string& name) {
  const std::string end =
      run.finished_wall_ns > 0 ? std::to_string(run.finished_wall_ns / 1'000'000) : "null";
  return fmt::format(
      "artifact_uri: {0}\nend_time: {1}\nentry_point_name: ''\nexperiment_id: '{2}'\nlifecycle_stage: "
      "active\nrun_id: {3}\n"
      "run_name: {4}\nrun_uuid: {3}\nsource_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: "
      "{5}\nstatus: {6}\n"
      "tags: []\nuser_id: ddbench\n",
      json_string(mlflow::file_uri(target.directory / "artifacts")), end, target.experiment_id,
      json_string(target.run_uuid), json_string(name), run.started_wall_ns / 1'000'000, status_of(run));
}

std::string metric_lines(const std::vector<mlflow::MetricPoint>& points) {
  std::string lines;
  for (const mlflow::MetricPoint& point : points)
    lines += fmt::format("{} {:.12g} {}\n", point.time_ms, point.value, point.step);
  return lines;
}

}  // namespace

MlflowRun export_mlflow(const store::RunStore& store, const store::RunId& id, const fs::path& root) {
  const RunReport report = run_report(store, id);
  const store::RunRecord& run = report.summary.run;
  MlflowRun target;
  target.experiment_id = mlflow::experiment_id(root, "ddbench", wall_ns() / 1'000'000);
  target.run_uuid = mlflow::hash_of(run.id, 1) + mlflow::hash_of(run.id, 2);
  target.directory = root / target.experiment_id / target.run_uuid;

  const mlflow::RunValues values = mlflow::run_values(report.summary, store.steps(id));
  mlflow::NewDirectory folder(root / target.experiment_id);
  for (const auto& [key, value] : values.params) folder.write(fs::path("params") / key, value);
  for (const auto& [key, value] : values.tags) folder.write(fs::path("tags") / key, value);
  for (const auto& [key, points] : values.metrics)
    folder.write(fs::path("metrics") / key, metric_lines(points));
  folder.write(fs::path("artifacts") / "report.html", run_html(report));
  folder.write(fs::path("artifacts") / "report.json", run_json(report.summary) + "\n");
  folder.write("meta.yaml", run_meta(run, target, values.tags.at("mlflow.runName")));
  folder.place(target.directory, run.id);
  return target;
}

}  // namespace ddbench::reports
