#include "reports/formats/terminal/batch.h"

#include "reports/formats/json/interval_json.h"
#include "reports/formats/json/json.h"

namespace ddbench::reports {
namespace {

Json noise_json(const analyzer::BatchRow& row, MissingReasons& missing) {
  if (!row.noise) return missing.null("noise_scale", row.noise.reason());
  Json json = estimate_json("samples", row.noise->samples, "noise_scale.samples", missing);
  json["point"] = row.noise->point();
  json["at_least"] = row.noise->at_least;
  json["steps"] = row.noise->steps;
  return json;
}

Json row_json(const analyzer::BatchRow& row) {
  MissingReasons missing;
  Json json = {{"world_size", row.world_size},
               {"nodes", placed_json(row.run_case, row.run_case.nodes)},
               {"batch_per_gpu", row.run_case.batch_per_gpu},
               {"global_batch", row.global_batch},
               {"lr", row.run_case.lr},
               {"runs", row.runs},
               {"run_steps", row.run_steps},
               {"missed", row.missed}};
  json["applied_lr"] = missing.value("applied_lr", row.applied_rate);
  json["steps"] = missing.value("steps", row.steps);
  json["samples"] = missing.value("samples", row.samples);
  json["step_time_ns"] = missing.value("step_time_ns", row.step_time_ns);
  json["time_s"] = missing.value("time_s", row.time_s);
  json["gpu_hours"] = missing.value("gpu_hours", row.gpu_hours);
  json["usd"] = missing.value("usd", row.usd);
  json["return_of_added"] = missing.value("return_of_added", row.return_of_added);
  json["noise_scale"] = noise_json(row, missing);
  json["provenance"] = names_json(row.provenance);
  json["missing"] = missing.reasons();
  return json;
}

Json critical_json(const analyzer::BatchCurve& curve, MissingReasons& missing) {
  if (!curve.critical) return missing.null("critical_batch", curve.critical.reason());
  const analyzer::CriticalBatch& fit = *curve.critical;
  Json json = {{"fewest_steps", metric_json(fit.fewest_steps)},
               {"fewest_samples", metric_json(fit.fewest_samples)}};
  json["batch"] = estimate_json("value", fit.batch, "critical_batch.batch", missing);
  json["rms_error"] = fit.rms_error;
  json["badly_fitted_batches"] = fit.badly_fitted_batches;
  json["notes"] = fit.notes;
  return json;
}

Json curve_object(const analyzer::BatchCurve& curve) {
  MissingReasons missing;
  Json json = {{"variant", curve.variant}, {"rows", Json::array()}};
  for (const analyzer::BatchRow& row : curve.rows) json["rows"].push_back(row_json(row));
  json["critical_batch"] = critical_json(curve, missing);
  json["pays_up_to"] = missing.value("pays_up_to", curve.pays_up_to);
  json["notes"] = curve.notes;
  json["missing"] = missing.reasons();
  return json;
}

}  // namespace

std::string batch_json(const analyzer::BatchAnalysis& analysis) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"target_loss", analysis.target_loss},
               {"curves", Json::array()}};
  for (const analyzer::BatchCurve& curve : analysis.curves) json["curves"].push_back(curve_object(curve));
  json["notes"] = analysis.notes;
  return dumped(json);
}

}  // namespace ddbench::reports
