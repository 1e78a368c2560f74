#pragma once

#include <string>

#include "analyzer/diagnose/diagnosis.h"
#include "core/run_case/records.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

/// The output of `ddbench diagnose`: the verdict, its evidence, and what to check next.
std::string diagnosis_text(const store::RunRecord& run, const Measured<analyzer::Diagnosis>& diagnosis, const TextStyle& style);
/// The same in one sentence, for the end of `ddbench show --db DB`.
std::string diagnosis_section(const store::RunId& run, const analyzer::Diagnosis& diagnosis, const std::string& db, const TextStyle& style);
/// reports/schema/diagnosis.schema.json
std::string diagnosis_json(const store::RunRecord& run, const Measured<analyzer::Diagnosis>& diagnosis);

}  // namespace ddbench::reports
