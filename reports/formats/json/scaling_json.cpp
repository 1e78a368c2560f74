#include "analyzer/run/run_fields.h"
#include "reports/formats/json/interval_json.h"
#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"

namespace ddbench::reports {
namespace {

Json row_object(const analyzer::ScalingRow& row) {
  MissingReasons missing;
  Json json = {{"world_size", row.world_size},
               {"nodes", placed_json(row.run_case, row.run_case.nodes)},
               {"gpus_per_node", placed_json(row.run_case, row.run_case.gpus_per_node)},
               {"workload", work_name(row.run_case.work)},
               {"batch_per_gpu", samples_json(row.run_case, row.run_case.batch_per_gpu)},
               {"global_batch", samples_json(row.run_case, row.run_case.global_batch())},
               {"bucket_bytes", analyzer::has_meaning(row.run_case, row.provenance, "bucket_bytes") ? Json(row.run_case.bucket_bytes) : Json(nullptr)},
               {"device", row.run_case.device},
               {"backend", row.run_case.backend},
               {"link", row.run_case.link},
               {"variant", row.variant},
               {"repetitions", row.repetitions},
               {"state", row.state}};
  json["step_time_ns"] = quantity_json(row.step_time_ns, "step_time_ns", missing);
  json["samples_per_s"] = missing.value("samples_per_s", row.samples_per_s);
  json["speedup"] = missing.value("speedup", row.speedup);
  json["speedup_ci"] = interval_json(row.speedup_interval, "speedup_ci", missing);
  json["efficiency"] = missing.value("efficiency", row.efficiency);
  json["efficiency_ci"] = interval_json(row.efficiency_interval, "efficiency_ci", missing);
  json["serial_fraction"] = missing.value("serial_fraction", row.serial_fraction);
  json["exposed_communication_share"] =
      row.repetitions > 0 ? missing.value("exposed_communication_share", row.exposed_communication_share)
                          : missing.null("exposed_communication_share", row.state);
  json["provenance"] = names_json(row.provenance);
  json["missing"] = missing.reasons();
  return json;
}

Json best_object(const analyzer::BestSetting& best) {
  MissingReasons missing;
  Json json = {{"world_size", best.run_case.world_size()},
               {"nodes", placed_json(best.run_case, best.run_case.nodes)},
               {"batch_per_gpu", samples_json(best.run_case, best.run_case.batch_per_gpu)},
               {"link", best.run_case.link},
               {"setting", best.setting},
               {"settings", best.settings},
               {"samples_per_s", best.samples_per_s.value},
               {"next", best.next},
               {"over_next", best.over_next.value},
               {"as_good", best.as_good}};
  json["samples_per_s_ci"] = interval_json(best.samples_per_s.interval, "samples_per_s_ci", missing);
  json["over_next_ci"] = interval_json(best.over_next.interval, "over_next_ci", missing);
  json["missing"] = missing.reasons();
  return json;
}

}  // namespace

std::string scaling_json(const analyzer::ScalingTable& table) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"sweep_id", table.sweep_id},
               {"scaling", table.rows.empty() ? Json(to_string(table.mode)) : scaling_mode_json(table.rows.front().run_case, table.mode)},
               {"baseline", table.baseline},
               {"rows", Json::array()},
               {"notes", table.notes}};
  for (const analyzer::ScalingRow& row : table.rows) json["rows"].push_back(row_object(row));
  json["best"] = Json::array();
  for (const analyzer::BestSetting& best : table.best) json["best"].push_back(best_object(best));
  return dumped(json);
}

}  // namespace ddbench::reports
