#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"
#include "reports/formats/predict/prediction.h"

namespace ddbench::reports {
namespace {

Json estimate_of(const analyzer::Estimate& estimate) {
  return {{"value", estimate.value},
          {"ci_low", estimate.interval.low},
          {"ci_high", estimate.interval.high},
          {"method", estimate.interval.method}};
}

Json predicted_json(const PredictionReport& report, const analyzer::ReplayPrediction& prediction) {
  const double gpus = prediction.shape.gpus();
  const double recorded_rate = report.recorded_samples_per_s / report.recorded.gpus();
  return {{"nodes", prediction.shape.nodes},
          {"gpus_per_node", prediction.shape.gpus_per_node},
          {"step_time_ns", estimate_of(prediction.step_ns)},
          {"samples_per_s", report.counts_samples ? estimate_of(prediction.samples_per_s) : Json(nullptr)},
          {"rate_per_gpu_over_recorded",
           recorded_rate > 0 ? Json(prediction.samples_per_s.value / gpus / recorded_rate) : Json(nullptr)},
          {"waited_ns", prediction.waited_ns},
          {"communication_ns", prediction.lane_ns},
          {"provenance", Json::array({"predicted"})}};
}

Json shares_of(const std::vector<analyzer::PathShare>& shares) {
  Json json = Json::array();
  for (const analyzer::PathShare& share : shares) {
    json.push_back({{"name", share.name},
                    {"rank", share.rank < 0 ? Json(nullptr) : Json(share.rank)},
                    {"path_ns", share.path_ns},
                    {"slack_ns", share.slack_ns},
                    {"steps_on_path", share.steps_on_path}});
  }
  return json;
}

Json path_of(const Measured<analyzer::CriticalPath>& path) {
  if (!path) return nullptr;
  Json parts = Json::object();
  for (const analyzer::PathShare& part : path->parts) parts[part.name] = part.path_ns;
  return {{"steps", path->steps},
          {"step_time_ns", path->step_ns},
          {"parts_ns", std::move(parts)},
          {"ranks", shares_of(path->ranks)},
          {"collectives", shares_of(path->collectives)},
          {"operators", shares_of(path->operators)},
          {"notes", path->notes}};
}

}  // namespace

std::string prediction_json(const PredictionReport& report) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"run", report.run},
               {"nodes", placed_json(report.recorded, report.recorded.nodes)},
               {"gpus_per_node", placed_json(report.recorded, report.recorded.gpus_per_node)},
               {"recorded_step_time_ns", report.recorded_step_ns},
               {"recorded_samples_per_s", report.counts_samples ? Json(report.recorded_samples_per_s) : Json(nullptr)},
               {"replay_over_recorded", report.replay_ratio},
               {"modelled_over_recorded", report.modelled_ratio ? Json(*report.modelled_ratio) : Json(nullptr)},
               {"predictions", Json::array()},
               {"assumptions", report.assumptions}};
  for (const analyzer::ReplayPrediction& prediction : report.predictions)
    json["predictions"].push_back(predicted_json(report, prediction));
  return dumped(json);
}

std::string advice_json(const analyzer::AdviceReport& report, const Measured<analyzer::CriticalPath>& path) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"run", report.run},
               {"step_time_ns", estimate_of(report.step_ns)},
               {"waited_ns", report.waited_ns},
               {"advice", Json::array()},
               {"buckets", Json::array()},
               {"critical_path", path_of(path)},
               {"no_gain", report.no_gain},
               {"not_known", report.not_known},
               {"notes", report.notes}};
  for (const analyzer::TriedBucket& tried : report.buckets)
    json["buckets"].push_back({{"bytes", tried.bytes}, {"step_time_ns", tried.step_ns}});
  for (const analyzer::Advice& advice : report.advice) {
    json["advice"].push_back({{"name", advice.name},
                              {"change", advice.change},
                              {"assumption", advice.assumption},
                              {"gain", estimate_of(advice.gain)},
                              {"step_time_ns", advice.step_ns},
                              {"provenance", Json::array({"predicted"})}});
  }
  return dumped(json);
}

}  // namespace ddbench::reports
