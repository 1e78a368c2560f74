#pragma once

#include <string>

#include "analyzer/run/run_summary.h"
#include "reports/formats/json/json_values.h"

namespace ddbench::reports {

/// As estimate_json, for a known value with or without an interval: the reason for a missing interval is
/// stored under `path`.ci.
Json value_json(double value, const Measured<ConfidenceInterval>& interval, const std::string& path,
                MissingReasons& missing);
Json metric_json(
    const Metric& metric);  ///< {"name", "unit", "value", "ci_low", "ci_high", "ci_level", "method"}
/// value_json of a quantity; all null with the reason under `path` when it is missing.
Json quantity_json(const Measured<analyzer::Quantity>& quantity, const std::string& path,
                   MissingReasons& missing);
/// {"low", "high", "level", "method"}; null with the reason under `path` when it is missing.
Json interval_json(const Measured<ConfidenceInterval>& interval, const std::string& path,
                   MissingReasons& missing);
/// [low, high] of each part and of "lost", with "level" and "method"; null when missing.
Json loss_intervals_json(const Measured<analyzer::LossIntervals>& intervals, const std::string& path,
                         MissingReasons& missing);

}  // namespace ddbench::reports
