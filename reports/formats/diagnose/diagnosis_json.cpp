#include "analyzer/diagnose/diagnose_run.h"
#include "reports/formats/diagnose/diagnosis.h"
#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"

namespace ddbench::reports {
namespace {

Json evidence_json(const analyzer::Diagnosis& diagnosis) {
  Json list = Json::array();
  for (const analyzer::Evidence& evidence : diagnosis.evidence)
    list.push_back({{"rank", evidence.rank}, {"step", evidence.step}, {"what", evidence.what}});
  return list;
}

Json link_json(const analyzer::SlowLink& link) {
  constexpr double kGigabytePerNs = 1.0;  // a byte a nanosecond is 1 GB/s
  const bool is_node = link.kind == analyzer::SlowLink::Kind::kNode;
  return {{"node", link.node},
          {"to_node", is_node ? Json(nullptr) : Json(link.to_node)},
          {"both_ways", link.kind != analyzer::SlowLink::Kind::kDirection},
          {"ratio", link.ratio},
          {"gb_per_s", link.rate / kGigabytePerNs},
          {"others_gb_per_s", link.others_rate / kGigabytePerNs}};
}

}  // namespace

std::string diagnosis_json(const store::RunRecord& run, const Measured<analyzer::Diagnosis>& diagnosis) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"run", run.id},
               {"state", store::to_string(run.state)},
               {"reason", run.reason},
               {"verdict", analyzer::verdict_or_reason(diagnosis)},
               {"cause", nullptr}};
  if (!diagnosis) return dumped(json);
  json["cause"] = analyzer::to_string(diagnosis->cause);
  json["accused"] = analyzer::is_accusation(diagnosis->cause);
  json["ranks"] = diagnosis->ranks;
  json["nodes"] = diagnosis->nodes;
  json["host"] = diagnosis->host;
  json["first_step"] = diagnosis->first_step;
  json["last_step"] = diagnosis->last_step;
  json["slower"] = diagnosis->slower;
  json["cost_share"] = diagnosis->cost_share;
  json["explained"] = diagnosis->explained;
  json["lost_share"] = diagnosis->lost_share;
  json["period_steps"] = diagnosis->period_steps > 0 ? Json(diagnosis->period_steps) : Json(nullptr);
  json["pause_ns"] = diagnosis->pause_ns > 0 ? Json(diagnosis->pause_ns) : Json(nullptr);
  json["operator"] = diagnosis->operator_name.empty() ? Json(nullptr) : Json(diagnosis->operator_name);
  json["reference"] = diagnosis->reference.empty() ? Json(nullptr) : Json(diagnosis->reference);
  json["link"] = diagnosis->link ? link_json(*diagnosis->link) : Json(nullptr);
  json["confidence"] = diagnosis->confidence;
  json["steps"] = diagnosis->steps;
  json["evidence"] = evidence_json(*diagnosis);
  json["next_checks"] = diagnosis->next_checks;
  json["notes"] = diagnosis->notes;
  return dumped(json);
}

}  // namespace ddbench::reports
