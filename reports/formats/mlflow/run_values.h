#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/tables/report.h"

namespace ddbench::reports::mlflow {

struct MetricPoint {
  std::int64_t time_ms = 0;  ///< since the Unix epoch
  double value = 0;
  std::int64_t step = 0;
};

/// What MLflow keeps of a run, keys already fit for it.
struct RunValues {
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> tags;
  std::map<std::string, std::vector<MetricPoint>> metrics;
};

/// RunValues::params, which are known before the run.
std::map<std::string, std::string> case_params(const RunCase& run_case);

RunValues run_values(const analyzer::RunSummary& summary, const std::vector<store::StepRecord>& steps);

/// `key` as MLflow takes it and as the name of one file: letters, digits, '_', '-', '.', ' '; changed keys
/// end with a hash of the key, so that two of them stay two.
std::string safe_key(const std::string& key);

/// 16 hex digits (FNV-1a); `salt` gives independent ones.
std::string hash_of(const std::string& text, std::uint64_t salt = 0);

}  // namespace ddbench::reports::mlflow
