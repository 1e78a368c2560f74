#pragma once

#include <string>

#include "analyzer/batch/batch_analysis.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

/// The output of `ddbench batch`. `sweep`: the sweep of the runs, for the title; may be empty.
std::string batch_text(const analyzer::BatchAnalysis& analysis, const TextStyle& style, const std::string& sweep = {});

/// reports/schema/batch.schema.json
std::string batch_json(const analyzer::BatchAnalysis& analysis);

}  // namespace ddbench::reports
