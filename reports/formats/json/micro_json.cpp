#include "reports/formats/terminal/micro.h"

#include "core/facts/facts.h"
#include "reports/formats/json/fit_json.h"
#include "reports/formats/json/json.h"

namespace ddbench::reports {
namespace {

Json timing_json(const std::optional<analyzer::MicroTiming>& timing) {
  if (!timing) return nullptr;
  return {{"time_ns", timing->time_ns},
          {"batches_ns", timing->batches_ns},
          {"iterations", timing->iterations},
          {"algbw_gb_per_s", timing->algbw_gb_per_s},
          {"busbw_gb_per_s", timing->busbw_gb_per_s},
          {"wrong", timing->wrong}};
}

Json row_json(const analyzer::MicroRow& row) {
  return {{"operation", analyzer::to_string(row.operation)},
          {"bytes", row.bytes},
          {"count", row.count},
          {"type", "float"},
          {"redop", row.redop},
          {"root", row.root},
          {"out_of_place", timing_json(row.out_of_place)},
          {"in_place", timing_json(row.in_place)}};
}

Json ceiling_json(const analyzer::MicroCeiling& ceiling) {
  return {{"operation", analyzer::to_string(ceiling.operation)},
          {"unit", ceiling.operation == analyzer::MicroOperation::kGemm ? "FLOP/s" : "B/s"},
          {"per_second", ceiling.per_second},
          {"slowest_per_second", ceiling.slowest_per_second}};
}

}  // namespace

std::string micro_json(const analyzer::MicroTable& table) {
  const store::RunRecord& run = table.run;
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"run", run.id},
               {"state", store::to_string(run.state)},
               {"valid", run.valid},
               {"nodes", placed_json(run.run_case, run.run_case.nodes)},
               {"gpus_per_node", placed_json(run.run_case, run.run_case.gpus_per_node)},
               {"ranks", table.ranks},
               {"network", run.environment.network},
               {"transport", get_fact(run.environment.facts, fact_key<"transport">).value_or("")},
               {"provenance", names_json(run.provenance)},
               {"rows", Json::array()},
               {"ceilings", Json::array()},
               {"fits", Json::array()},
               {"wrong", table.wrong},
               {"notes", table.notes}};
  for (const analyzer::MicroRow& row : table.rows) json["rows"].push_back(row_json(row));
  for (const analyzer::MicroCeiling& ceiling : table.ceilings)
    json["ceilings"].push_back(ceiling_json(ceiling));
  for (const analyzer::AlphaBetaFit& fit : table.fits)
    json["fits"].push_back(fit_json({fit.algorithm, fit.ranks, "", fit}));
  return dumped(json);
}

}  // namespace ddbench::reports
