#include "reports/formats/json/cost_json.h"
#include "reports/formats/json/fit_json.h"
#include "reports/formats/json/interval_json.h"
#include "reports/formats/json/json.h"
#include "reports/formats/terminal/analysis.h"

namespace ddbench::reports {
namespace {

Json row_json(const analyzer::GroupRow& row) {
  MissingReasons missing;
  Json json = {{"value", row.value},
               {"variant", row.variant},
               {"world_size", row.world_size},
               {"nodes", placed_json(row.run_case, row.run_case.nodes)},
               {"gpus_per_node", placed_json(row.run_case, row.run_case.gpus_per_node)},
               {"workload", work_name(row.run_case.work)},
               {"batch_per_gpu", samples_json(row.run_case, row.run_case.batch_per_gpu)},
               {"runs", row.runs},
               {"samples_per_s", row.without_samples.empty() ? Json(row.samples_per_s)
                                                             : missing.null("samples_per_s", row.without_samples)},
               {"step_time_ns", missing.value("step_time_ns", row.step_time_ns)}};
  json["exposed_communication_ns"] = missing.value("exposed_communication_ns", row.exposed_ns);
  json["exposed_communication_share"] = missing.value("exposed_communication_share", row.exposed_share);
  json["efficiency"] = missing.value("efficiency", row.efficiency);
  json["against_reference"] = quantity_json(row.against_reference, "against_reference", missing);
  json["provenance"] = names_json(row.provenance);
  json["missing"] = missing.reasons();
  return json;
}

Json collective_json(const analyzer::GroupCollective& row) {
  MissingReasons missing;
  Json json = {{"function", row.function},
               {"ranks", row.ranks > 0 ? Json(row.ranks)
                                       : missing.null("ranks", "the size of the communicator is not known")},
               {"variant", row.variant},
               {"bytes", row.bytes},
               {"value", row.value},
               {"transfer_ns", row.transfer_ns}};
  json["busbw_gb_per_s"] = missing.value("busbw_gb_per_s", row.busbw_gb_per_s);
  json["against_reference"] = quantity_json(row.against_reference, "against_reference", missing);
  json["missing"] = missing.reasons();
  return json;
}

}  // namespace

std::string groups_json(const analyzer::GroupComparison& groups, const analyzer::CostTable& costs) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"field", groups.field},
               {"values", groups.values},
               {"rows", Json::array()},
               {"collectives", Json::array()},
               {"fits", Json::array()},
               {"costs", Json::array()}};
  for (const analyzer::GroupRow& row : groups.rows) json["rows"].push_back(row_json(row));
  for (const analyzer::GroupCollective& row : groups.collectives)
    json["collectives"].push_back(collective_json(row));
  for (const analyzer::GroupFit& fit : groups.fits) {
    json["fits"].push_back(fit_json(fit));
    json["fits"].back()["variant"] = fit.variant;
  }
  for (const analyzer::CostRow& row : costs.rows) json["costs"].push_back(cost_json(row));
  json["cheapest_in_time"] = costs.cheapest_in_time < 0 ? Json(nullptr) : Json(costs.cheapest_in_time);
  json["notes"] = groups.notes;
  for (const std::string& note : costs.notes) {
    if (!costs.rows.empty()) json["notes"].push_back(note);
  }
  return dumped(json);
}

}  // namespace ddbench::reports
