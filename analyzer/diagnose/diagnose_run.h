#pragma once

#include <optional>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// diagnose() of a stored run, with the operator that is slow, late starts, and what the machine counted (throttling, stolen
/// processor time). Missing with the reason where there is nothing to judge; for a run that hung or failed, what its launcher
/// found is the verdict (RunRecord::reason). Throws Error{kBadInput} when the run is unknown.
/// `reference`: a run of the same case, whose operators these are compared with where the run itself shows no cause that costs more.
/// Throws Error{kBadInput} when their cases differ.
Measured<Diagnosis> diagnose_run(const store::RunStore& store, const store::RunId& id,
                                 const std::optional<store::RunRecord>& reference = {});

/// One sentence for reports: the verdict, or why there is none.
std::string verdict_or_reason(const Measured<Diagnosis>& diagnosis);

}  // namespace ddbench::analyzer
