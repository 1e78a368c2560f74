#pragma once

#include <string>

#include "ddbench/analyzer/batch_analysis.h"
#include "ddbench/reports/text.h"

namespace ddbench::reports {

/// What `ddbench batch` prints.
std::string batch_text(const analyzer::BatchAnalysis& analysis, const TextStyle& style);

/// reports/schema/batch.schema.json
std::string batch_json(const analyzer::BatchAnalysis& analysis);

}  // namespace ddbench::reports
