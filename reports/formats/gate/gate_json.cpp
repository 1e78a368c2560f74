#include <cmath>

#include "reports/formats/gate/gate.h"
#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"

namespace ddbench::reports {
namespace {

using analyzer::GateVerdict;
using analyzer::MetricVerdict;

const char* in_time_name(analyzer::SidesInTime in_time) {
  switch (in_time) {
    case analyzer::SidesInTime::kInterleaved: return "interleaved";
    case analyzer::SidesInTime::kBlocks: return "one_session";
    case analyzer::SidesInTime::kSessions: break;
  }
  return "sessions";
}

Json side_json(const analyzer::GateSide& side) {
  Json json = {{"reference", side.reference}, {"meaning", side.meaning}, {"runs", Json::array()}};
  for (const analyzer::RunMeasures& run : side.runs) json["runs"].push_back(run.run.id);
  return json;
}

Json policy_json(const analyzer::GatePolicy& policy) {
  return {{"confidence", policy.confidence},     {"min_pairs", policy.min_pairs},
          {"min_sessions", policy.min_sessions}, {"session_spread", policy.session_spread},
          {"drift_spread", policy.drift_spread}, {"vary", policy.vary}};
}

Json metric_verdict_json(const MetricVerdict& metric) {
  Json json = {{"metric", std::string(to_string(metric.metric))},
               {"unit", std::string(unit_of(metric.metric))},
               {"lower_is_better", lower_is_better(metric.metric)},
               {"outcome", std::string(to_string(metric.outcome))},
               {"improved", metric.improved},
               {"reason", metric.reason},
               {"threshold", metric.threshold},
               {"estimate", nullptr}};
  if (!metric.estimate) return json;
  const MetricVerdict::Estimate& estimate = *metric.estimate;
  json["estimate"] = {
      {"baseline", estimate.baseline},
      {"candidate", estimate.candidate},
      {"ratio", estimate.baseline > 0 ? Json(estimate.candidate / estimate.baseline) : Json()},
      {"change", estimate.change},
      {"ci_low", estimate.change_interval.low},
      {"ci_high", estimate.change_interval.high},
      {"ci_level", estimate.change_interval.level},
      {"method", estimate.change_interval.method},
      {"least_change", estimate.least_change},
      {"detectable_change", estimate.detectable_change},
      {"p_value", estimate.p_value}};
  return json;
}

Json interval_json(const Measured<ConfidenceInterval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low},
          {"high", interval->high},
          {"level", interval->level},
          {"method", interval->method}};
}

Json compared_json(const std::vector<FieldDifference>& differences) {
  Json json = Json::array();
  for (const auto& difference : differences) {
    json.push_back({{"field", difference.field}, {"baseline", difference.a}, {"candidate", difference.b}});
  }
  return json;
}

Json parts_json(const std::vector<analyzer::PartChange>& parts) {
  Json json = Json::array();
  for (const analyzer::PartChange& part : parts) {
    json.push_back({{"part", std::string(store::to_string(part.part))},
                    {"baseline_ns", part.baseline_ns},
                    {"candidate_ns", part.candidate_ns},
                    {"change_ns", part.change_ns()},
                    {"change_interval_ns", interval_json(part.change_interval)}});
  }
  return json;
}

Json collectives_json(const std::vector<analyzer::CollectiveChange>& collectives) {
  Json json = Json::array();
  for (const analyzer::CollectiveChange& change : collectives) {
    json.push_back({{"function", change.function},
                    {"bucket", change.bucket},
                    {"bytes", change.bytes},
                    {"communicator", change.communicator},
                    {"calls_per_step", change.calls_per_step},
                    {"baseline_ns", change.baseline_ns},
                    {"candidate_ns", change.candidate_ns},
                    {"change_ns", change.change_ns()},
                    {"change_interval_ns", interval_json(change.change_interval)}});
  }
  return json;
}

}  // namespace

std::string gate_json(const GateVerdict& verdict) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"outcome", std::string(to_string(verdict.outcome))},
               {"exit_code", exit_code_of(verdict.outcome)},
               {"headline", verdict.headline},
               {"reasons", verdict.reasons},
               {"baseline", side_json(verdict.baseline)},
               {"candidate", side_json(verdict.candidate)},
               {"in_time", in_time_name(verdict.in_time)},
               {"policy", policy_json(verdict.policy)},
               {"metrics", Json::array()},
               {"compared", compared_json(verdict.compared)},
               {"parts", parts_json(verdict.parts)},
               {"collectives", collectives_json(verdict.collectives)},
               {"explanation", verdict.explanation},
               {"notes", verdict.notes}};
  for (const MetricVerdict& metric : verdict.metrics) json["metrics"].push_back(metric_verdict_json(metric));
  return dumped(json);
}

}  // namespace ddbench::reports
