#include "reports/formats/json/cost_json.h"

#include "reports/formats/json/interval_json.h"

namespace ddbench::reports {

Json cost_json(const analyzer::CostRow& row) {
  MissingReasons missing;
  Json json = {
      {"offer", row.offer.label}, {"sku", row.offer.sku}, {"nodes", missing.value("nodes", row.offer.nodes)}, {"spot", row.spot}};
  if (!row.offer.settings.empty()) json["settings"] = row.offer.settings;
  json["usd_per_h"] = missing.value("usd_per_h", row.usd_per_h);
  json["usd_per_million_samples"] = quantity_json(row.usd_per_million_samples, "usd_per_million_samples", missing);
  json["usd_per_epoch"] = missing.value("usd_per_epoch", row.usd_per_epoch);
  json["hours"] = missing.value("hours", row.hours);
  json["hours_interval"] = interval_json(row.hours_interval, "hours_interval", missing);
  json["usd"] = missing.value("usd", row.usd);
  json["usd_interval"] = interval_json(row.usd_interval, "usd_interval", missing);
  const auto planned = [&](const char* name, double value) { return row.unplanned.empty() ? Json(value) : missing.null(name, row.unplanned); };
  json["checkpoint_interval_s"] = planned("checkpoint_interval_s", row.checkpoints.interval_s);
  json["expected_time_factor"] = planned("expected_time_factor", row.checkpoints.time_factor);
  json["meets_deadline"] = row.meets_deadline;
  json["on_pareto_front"] = row.on_front;
  json["price_note"] = row.price_note;
  json["provenance"] = names_json(row.offer.provenance);
  json["missing"] = missing.reasons();
  return json;
}

Json nodes_in_time_json(const analyzer::NodesInTime& answer) {
  MissingReasons missing;
  const auto row = [&](const char* name, const Measured<analyzer::CostRow>& found) {
    return found ? cost_json(*found) : missing.null(name, found.reason());
  };
  Json json = {{"deadline_h", answer.deadline_h}};
  json["expected"] = row("expected", answer.expected);
  json["assured"] = row("assured", answer.assured);
  json["missing"] = missing.reasons();
  return json;
}

}  // namespace ddbench::reports
