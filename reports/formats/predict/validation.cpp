#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"
#include "reports/formats/predict/prediction.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

/// In the entry's `unit`.
void add_prediction(double predicted, const ConfidenceInterval* interval, const Measured<PredictionError>& error, double unit,
                    Json& entry) {
  entry["predicted"] = error ? Json(predicted / unit) : Json(nullptr);
  entry["ci_low"] = error && interval != nullptr ? Json(interval->low / unit) : Json(nullptr);
  entry["ci_high"] = error && interval != nullptr ? Json(interval->high / unit) : Json(nullptr);
  entry["error"] = error ? Json(error->error) : Json(nullptr);
  entry["missing"] = error.reason();
}

}  // namespace

std::string validation_text(const ValidationReport& report, const TextStyle& style) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style, 40);
  std::string text = data_table_text(validation_data(report), paint, width);
  for (const std::string& remark : validation_remarks(report)) {
    for (const std::string& line : wrapped(visible(remark), width - 2)) text += "  " + line + "\n";
  }
  return text;
}

std::string validation_json(const ValidationReport& report) {
  Json json = {{"schema_version", kJsonSchemaVersion}, {"sizes", Json::array()}};
  for (std::size_t i = 0; i < report.laws.size(); ++i) {
    const analyzer::ValidatedSize& law = report.laws[i];
    const analyzer::ReplayedSize& replay = report.replays[i];
    const double unit = report.counts_samples ? 1 : law.shape.gpus();
    Json entry = {{"nodes", placed_json(law.shape, law.shape.nodes)},
                  {"gpus_per_node", placed_json(law.shape, law.shape.gpus_per_node)},
                  {"samples_per_s", report.counts_samples ? Json(law.samples_per_s) : Json(nullptr)},
                  {"steps_per_s", report.counts_samples ? Json(nullptr) : Json(law.samples_per_s / unit)},
                  {"replay", Json::object()}};
    const bool known = law.predicted && law.predicted->interval;
    add_prediction(law.predicted ? law.predicted->throughput : 0, known ? &law.predicted->interval->interval : nullptr,
                   law_error(law), unit, entry);
    add_prediction(replay.predicted ? replay.predicted->samples_per_s.value : 0,
                   replay.predicted ? &replay.predicted->samples_per_s.interval : nullptr, replay_error(replay),
                   unit, entry["replay"]);
    json["sizes"].push_back(std::move(entry));
  }
  return dumped(json);
}

}  // namespace ddbench::reports
