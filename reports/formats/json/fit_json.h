#pragma once

#include "analyzer/comparison/compare_by.h"
#include "reports/formats/json/json_values.h"

namespace ddbench::reports {

/// {"function", "ranks", "value", "regimes"}
Json fit_json(const analyzer::GroupFit& fit);

}  // namespace ddbench::reports
