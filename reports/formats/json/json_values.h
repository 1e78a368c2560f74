#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/statistics/statistics.h"
#include "core/measured.h"
#include "core/run_case/records.h"

namespace ddbench::reports {

using Json = nlohmann::ordered_json;

/// Collects why values are null: {"path.of.field": "reason"}.
class MissingReasons {
 public:
  MissingReasons() : reasons_(Json::object()) {}

  /// The value; or null, with the reason kept under `path`.
  template <typename T>
  Json value(const std::string& path, const Measured<T>& measured) {
    if (measured) return Json(*measured);
    return null(path, measured.reason());
  }
  Json null(const std::string& path, const std::string& reason);
  const Json& reasons() const noexcept { return reasons_; }

 private:
  Json reasons_;
};

/// {"value_name": ..., "ci_low", "ci_high", "ci_level", "method"}; all null when missing.
Json estimate_json(const char* value_name, const Measured<analyzer::Estimate>& estimate,
                   const std::string& path, MissingReasons& missing);

/// compute, cpu_wait, exposed_transfer, exposed_peer_wait, copy, data_wait, host, idle: they sum to the partition's
/// total.
Json partition_json(const store::StepPartition& partition);
/// forward, backward, optimizer, other: they sum to `compute`.
Json compute_json(const store::StepPartition& partition);
/// Same keys as `object`, all null.
Json nulls_like(Json object);

/// `samples`, a batch of the case; null if it is not known (has_known_batch).
Json samples_json(const RunCase& run_case, std::int64_t samples);

/// `count`, nodes or GPUs of each; null where the case, or the shape, does not state how its ranks sit on nodes.
template <typename Placement>
Json placed_json(const Placement& placement, int count) {
  return placement.nodes_not_stated ? Json(nullptr) : Json(count);
}

/// "weak", "strong"; null where the batch of the case is not known, and so neither is what stays fixed.
Json scaling_mode_json(const RunCase& run_case, ScalingMode mode);

Json names_json(ProvenanceSet provenance);
/// "2026-11-21T00:19:05Z"; null for 0.
Json time_json(std::int64_t wall_ns);

/// ASCII only, so that no name can send control sequences to a terminal; bytes that are not valid UTF-8
/// become U+FFFD.
std::string dumped(const Json& json);

}  // namespace ddbench::reports
