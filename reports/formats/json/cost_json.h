#pragma once

#include "analyzer/cost/cost.h"
#include "analyzer/cost/curve/curve_costs.h"
#include "reports/formats/json/json_values.h"

namespace ddbench::reports {

Json cost_json(const analyzer::CostRow& row);
Json nodes_in_time_json(const analyzer::NodesInTime& answer);

}  // namespace ddbench::reports
