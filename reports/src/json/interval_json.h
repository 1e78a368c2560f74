#pragma once

#include <string>

#include "ddbench/analyzer/run_ratio.h"
#include "json_values.h"

namespace ddbench::reports {

/// As estimate_json, for a value that is known with or without an interval: the reason without one is kept
/// under `path`.ci.
Json value_json(double value, const Measured<ConfidenceInterval>& interval, const std::string& path,
                MissingReasons& missing);
Json metric_json(
    const Metric& metric);  ///< {"name", "unit", "value", "ci_low", "ci_high", "ci_level", "method"}
/// value_json of a ratio; all null with the reason under `path` when it is missing.
Json ratio_json(const Measured<analyzer::RunRatio>& ratio, const std::string& path, MissingReasons& missing);

}  // namespace ddbench::reports
