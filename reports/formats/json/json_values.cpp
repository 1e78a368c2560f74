#include "reports/formats/json/json_values.h"

#include <fmt/format.h>
#include <time.h>

#include "core/run_case/program_case.h"

namespace ddbench::reports {

using store::StepPart;

Json MissingReasons::null(const std::string& path, const std::string& reason) {
  reasons_[path] = reason;
  return nullptr;
}

Json estimate_json(const char* value_name, const Measured<analyzer::Estimate>& estimate,
                   const std::string& path, MissingReasons& missing) {
  if (!estimate) {
    missing.null(path, estimate.reason());
    return {{value_name, nullptr},
            {"ci_low", nullptr},
            {"ci_high", nullptr},
            {"ci_level", nullptr},
            {"method", nullptr}};
  }
  const ConfidenceInterval& interval = estimate.value().interval;
  return {{value_name, estimate.value().value},
          {"ci_low", interval.low},
          {"ci_high", interval.high},
          {"ci_level", interval.level},
          {"method", interval.method}};
}

Json partition_json(const store::StepPartition& partition) {
  return {{"compute", partition.compute_ns()},
          {"cpu_wait", partition[StepPart::kCpuWait]},
          {"exposed_transfer", partition[StepPart::kExposedTransfer]},
          {"exposed_peer_wait", partition[StepPart::kExposedPeerWait]},
          {"copy", partition[StepPart::kCopy]},
          {"data_wait", partition[StepPart::kDataWait]},
          {"host", partition[StepPart::kHost]},
          {"idle", partition[StepPart::kIdle]}};
}

Json compute_json(const store::StepPartition& partition) {
  return {{"forward", partition[StepPart::kForward]},
          {"backward", partition[StepPart::kBackward]},
          {"optimizer", partition[StepPart::kOptimizer]},
          {"other", partition[StepPart::kOtherCompute]}};
}

Json nulls_like(Json object) {
  for (auto& [key, value] : object.items()) value = nullptr;
  return object;
}

Json samples_json(const RunCase& run_case, std::int64_t samples) {
  return has_known_batch(run_case) ? Json(samples) : Json(nullptr);
}

Json scaling_mode_json(const RunCase& run_case, ScalingMode mode) {
  return has_known_batch(run_case) ? Json(to_string(mode)) : Json(nullptr);
}

Json names_json(ProvenanceSet provenance) {
  Json names = Json::array();
  for (const std::string_view name : provenance.names()) names.push_back(std::string(name));
  return names;
}

Json time_json(std::int64_t wall_ns) {
  const ::time_t seconds = wall_ns / 1'000'000'000;
  ::tm fields{};
  if (wall_ns <= 0 || ::gmtime_r(&seconds, &fields) == nullptr) return nullptr;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", fields.tm_year + 1900, fields.tm_mon + 1,
                     fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec);
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace ddbench::reports
