#include "reports/formats/json/interval_json.h"
#include "reports/formats/json/json.h"
#include "reports/formats/terminal/analysis.h"

namespace ddbench::reports {
namespace {

Json side_json(const analyzer::ComparedSide& side) {
  Json json = {{"meaning", side.meaning}, {"runs", Json::array()}};
  for (const store::RunRecord& run : side.runs) json["runs"].push_back(run.id);
  json["provenance"] = names_json(side.runs.front().provenance);
  return json;
}

const char* kind_name(FieldRole role) {
  if (is_asked_for(role)) return "case";
  return role == FieldRole::kConsequence ? "consequence" : "environment";
}

Json figures_json(const std::vector<analyzer::ComparedFigure>& figures) {
  Json list = Json::array();
  for (const analyzer::ComparedFigure& figure : figures) {
    MissingReasons missing;
    Json json = {{"name", figure.name}, {"unit", figure.unit}};
    json["a"] = missing.value("a", figure.a);
    json["b"] = missing.value("b", figure.b);
    json["b_over_a"] = quantity_json(figure.ratio, "b_over_a", missing);
    json["missing"] = missing.reasons();
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

std::string comparison_json(const analyzer::Comparison& comparison) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"a", side_json(comparison.a)},
               {"b", side_json(comparison.b)},
               {"verdict", std::string(to_string(comparison.verdict))},
               {"verdict_text", comparison.verdict_text},
               {"differences", Json::array()}};
  for (const FieldDifference& difference : comparison.differences) {
    json["differences"].push_back({{"kind", kind_name(difference.role)},
                                   {"field", difference.field},
                                   {"a", difference.a},
                                   {"b", difference.b}});
  }
  json["figures"] = figures_json(comparison.figures);
  json["parts"] = figures_json(comparison.parts);
  json["collectives"] = figures_json(comparison.collectives);
  json["kernels"] = figures_json(comparison.kernels);
  json["notes"] = comparison.notes;
  return dumped(json);
}

}  // namespace ddbench::reports
