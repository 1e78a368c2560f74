#pragma once

#include <string>

#include "reports/formats/terminal/text.h"
#include "reports/tables/prediction_content.h"

namespace ddbench::reports {

std::string prediction_text(const PredictionReport& report, const TextStyle& style);
/// reports/schema/prediction.schema.json
std::string prediction_json(const PredictionReport& report);

std::string validation_text(const ValidationReport& report, const TextStyle& style);
/// reports/schema/validation.schema.json
std::string validation_json(const ValidationReport& report);

/// With the critical path as evidence, or the reason why there is none.
std::string advice_text(const analyzer::AdviceReport& report, const Measured<analyzer::CriticalPath>& path,
                        const TextStyle& style);
/// The three largest gains, for the end of `ddbench show --db DB`.
std::string advice_section(const analyzer::AdviceReport& report, const std::string& db, const TextStyle& style);
/// reports/schema/advice.schema.json
std::string advice_json(const analyzer::AdviceReport& report, const Measured<analyzer::CriticalPath>& path);

}  // namespace ddbench::reports
