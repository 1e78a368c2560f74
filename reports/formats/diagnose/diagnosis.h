#pragma once

#include <string>

#include "analyzer/diagnose/diagnosis.h"
#include "core/run_case/records.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

/// What `ddbench diagnose` prints: the verdict, then what it rests on and what to check next.
std::string diagnosis_text(const store::RunRecord& run, const Measured<analyzer::Diagnosis>& diagnosis, const TextStyle& style);
/// The same in one sentence, below the report of a run.
std::string diagnosis_section(const store::RunId& run, const analyzer::Diagnosis& diagnosis, const TextStyle& style);
/// reports/schema/diagnosis.schema.json
std::string diagnosis_json(const store::RunRecord& run, const Measured<analyzer::Diagnosis>& diagnosis);

}  // namespace ddbench::reports
