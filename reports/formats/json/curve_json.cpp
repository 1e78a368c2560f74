#include "reports/formats/json/cost_json.h"
#include "reports/formats/json/interval_json.h"
#include "reports/formats/json/json.h"
#include "reports/formats/terminal/analysis.h"

namespace ddbench::reports {
namespace {

using analyzer::CurveRow;
using analyzer::ScalingCurve;

Json serial_json(const CurveRow& row, MissingReasons& missing) {
  if (row.serial_fraction) {
    const Metric& serial = *row.serial_fraction;
    const auto interval = serial.interval
                              ? Measured<ConfidenceInterval>(*serial.interval)
                              : Measured<ConfidenceInterval>::missing(row.efficiency_interval.reason());
    return value_json(serial.value, interval, "serial_fraction", missing);
  }
  return estimate_json("value", Measured<analyzer::Estimate>::missing(row.serial_fraction.reason()),
                       "serial_fraction", missing);
}

Json row_json(const CurveRow& row) {
  MissingReasons missing;
  Json json = {{"world_size", row.world_size},
               {"nodes", placed_json(row.run_case, row.run_case.nodes)},
               {"gpus_per_node", placed_json(row.run_case, row.run_case.gpus_per_node)},
               {"batch_per_gpu", samples_json(row.run_case, row.run_case.batch_per_gpu)},
               {"global_batch", samples_json(row.run_case, row.run_case.global_batch())},
               {"runs", row.runs},
               {"is_baseline", row.is_baseline},
               {"samples_per_s", row.without_samples.empty() ? Json(row.samples_per_s)
                                                             : missing.null("samples_per_s", row.without_samples)}};
  json["step_time_ns"] = quantity_json(row.step_time_ns, "step_time_ns", missing);
  json["speedup"] = row.speedup;
  json["speedup_ci"] = interval_json(row.speedup_interval, "speedup_ci", missing);
  json["efficiency"] = value_json(row.efficiency, row.efficiency_interval, "efficiency", missing);
  json["serial_fraction"] = serial_json(row, missing);
  json["exposed_communication_share"] = missing.value("exposed_communication_share", row.exposed_share);
  json["lost_ns"] = row.waterfall ? Json(row.lost_ns) : missing.null("lost_ns", row.waterfall.reason());
  json["waterfall_ns"] = row.waterfall ? partition_json(*row.waterfall) : nulls_like(partition_json({}));
  json["waterfall_ci_ns"] = loss_intervals_json(row.loss_intervals, "waterfall_ci_ns", missing);
  json["mfu"] = missing.value("mfu", row.utilisation.mfu);
  json["hfu"] = missing.value("hfu", row.utilisation.hfu);
  json["goodput"] = missing.value("measured_share", row.measured_share);
  json["provenance"] = names_json(row.provenance);
  json["missing"] = missing.reasons();
  return json;
}

Json model_json(const analyzer::ModelChoice& choice) {
  Json json = {{"law", std::string(to_string(choice.best.model))},
               {"formula", std::string(formula(choice.best.model))},
               {"parameters", Json::array()},
               {"rms_error", choice.best.rms_error},
               {"degrees_of_freedom", choice.best.fit.degrees_of_freedom},
               {"cross_validation", Json::array()},
               {"badly_fitted_gpus", choice.badly_fitted_n}};
  for (const Metric& parameter : choice.best.parameters) json["parameters"].push_back(metric_json(parameter));
  for (const analyzer::ModelCandidate& candidate : choice.candidates) {
    json["cross_validation"].push_back(
        {{"law", std::string(to_string(candidate.model))},
         {"error",
          candidate.cross_validation_error ? Json(*candidate.cross_validation_error) : Json(nullptr)}});
  }
  return json;
}

Json prediction_json(const ScalingCurve& curve, const analyzer::Prediction& prediction) {
  const bool samples = curve.counts_samples();
  const double unit = samples ? 1 : prediction.n;
  Json json = {{"gpus", prediction.n},
               {"samples_per_s", samples ? Json(prediction.throughput) : Json(nullptr)},
               {"steps_per_s", samples ? Json(nullptr) : Json(prediction.throughput / unit)},
               {"ci_low", nullptr},
               {"ci_high", nullptr},
               {"efficiency", curve.speedup_of(prediction.throughput) * curve.baseline_gpus / prediction.n},
               {"extrapolated", prediction.extrapolated},
               {"nodes", placed_json(prediction.shape, prediction.shape.nodes)},
               {"gpus_per_node", placed_json(prediction.shape, prediction.shape.gpus_per_node)},
               {"models", Json::array()}};
  for (const analyzer::SizeModel& model : prediction.models) {
    json["models"].push_back({{"name", model.name},
                              {"weight", model.weight},
                              {"samples_per_s", samples ? Json(model.samples_per_s) : Json(nullptr)},
                              {"error", model.error ? Json(*model.error) : Json(nullptr)}});
  }
  if (prediction.interval) {
    json["ci_low"] = prediction.interval->interval.low / unit;
    json["ci_high"] = prediction.interval->interval.high / unit;
  }
  return json;
}

Json straggler_list(const std::vector<analyzer::Straggler>& stragglers) {
  Json list = Json::array();
  for (const analyzer::Straggler& straggler : stragglers) {
    list.push_back({{"rank", straggler.rank < 0 ? Json(nullptr) : Json(straggler.rank)},
                    {"node", straggler.node},
                    {"host", straggler.host},
                    {"times_last", straggler.times_last},
                    {"share_last", straggler.share_last},
                    {"late_ns", straggler.late_ns},
                    {"cost_ns_per_step", straggler.cost_ns_per_step}});
  }
  return list;
}

Json stragglers_json(const analyzer::StragglerReport& report) {
  return {{"run", report.run},
          {"collectives", report.collectives},
          {"unresolved", report.unresolved},
          {"incomplete", report.incomplete},
          {"steps", report.steps},
          {"mean_step_ns", report.mean_step_ns},
          {"ranks", straggler_list(report.ranks)},
          {"nodes", straggler_list(report.nodes)}};
}

void append(const std::vector<std::string>& notes, Json& list) {
  for (const std::string& note : notes) list.push_back(note);
}

}  // namespace

std::string curve_json(const ScalingCurve& curve, const analyzer::CurveCosts& costs) {
  MissingReasons missing;
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"scaling", scaling_mode_json(curve.rows.front().run_case, curve.mode)},
               {"baseline", curve.baseline},
               {"baseline_gpus", curve.baseline_gpus},
               {"rows", Json::array()}};
  for (const CurveRow& row : curve.rows) json["rows"].push_back(row_json(row));
  json["model"] = curve.model ? model_json(*curve.model) : missing.null("model", curve.model.reason());
  json["predictions"] = Json::array();
  for (const analyzer::Prediction& prediction : curve.predictions) {
    json["predictions"].push_back(prediction_json(curve, prediction));
  }
  json["costs"] = Json::array();
  for (const analyzer::CostRow& row : costs.table.rows) json["costs"].push_back(cost_json(row));
  json["cheapest_in_time"] = costs.table.cheapest_in_time < 0 ? Json(nullptr) : Json(costs.table.cheapest_in_time);
  json["nodes_in_time"] = costs.in_time ? nodes_in_time_json(*costs.in_time) : Json(nullptr);
  json["stragglers"] = curve.stragglers ? stragglers_json(*curve.stragglers)
                                        : missing.null("stragglers", curve.stragglers.reason());
  json["notes"] = curve.notes;
  if (!costs.table.rows.empty()) append(costs.table.notes, json["notes"]);
  if (curve.model) append(curve.model->notes, json["notes"]);
  if (curve.stragglers) append(curve.stragglers->notes, json["notes"]);
  json["missing"] = missing.reasons();
  return dumped(json);
}

}  // namespace ddbench::reports
