#include "reports/formats/json/fit_json.h"

namespace ddbench::reports {
namespace {

Json regime_json(const analyzer::AlphaBetaRegime& regime) {
  MissingReasons missing;
  Json json = {{"from_bytes", regime.from_bytes}, {"to_bytes", regime.to_bytes}, {"sizes", regime.sizes}};
  json["latency_ns"] = estimate_json("value", regime.latency, "latency_ns", missing);
  json["ns_per_byte"] = estimate_json("value", regime.per_byte, "ns_per_byte", missing);
  json["latency_ns"]["value"] = regime.latency_ns;
  json["ns_per_byte"]["value"] = regime.ns_per_byte;
  json["r_squared"] = regime.r_squared;
  json["rms_error"] = regime.rms_error;
  json["badly_fitted_bytes"] = regime.badly_fitted_bytes;
  return json;
}

}  // namespace

Json fit_json(const analyzer::GroupFit& fit) {
  Json json = {
      {"function", fit.function}, {"ranks", fit.ranks}, {"value", fit.value}, {"regimes", Json::array()}};
  for (const analyzer::AlphaBetaRegime& regime : fit.fit.regimes)
    json["regimes"].push_back(regime_json(regime));
  return json;
}

}  // namespace ddbench::reports
