#pragma once

#include "ddbench/analyzer/compare_by.h"
#include "json_values.h"

namespace ddbench::reports {

/// {"function", "ranks", "value", "regimes"}
Json fit_json(const analyzer::GroupFit& fit);

}  // namespace ddbench::reports
