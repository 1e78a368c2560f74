#pragma once

#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"

namespace ddbench::reports {

inline constexpr int kJsonSchemaVersion = 1;

/// One JSON object; its schema is reports/schema/run.schema.json. What could not be measured is null, with
/// the reason under "missing": {"path.of.field": "reason"}.
std::string run_json(const analyzer::RunSummary& summary);
/// reports/schema/scaling.schema.json
std::string scaling_json(const analyzer::ScalingTable& table);
/// A JSON array of {id, name, state, ...}: reports/schema/run_list.schema.json
std::string run_list_json(const std::vector<analyzer::RunSummary>& runs);

}  // namespace ddbench::reports
