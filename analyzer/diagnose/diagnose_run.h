#pragma once

#include <optional>

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// diagnose() for a stored run, plus the slow operator, late starts, and the machine's counters (throttling,
/// stolen processor time). Missing, with the reason, if there is nothing to judge; for a run that hung or
/// failed, the launcher's finding is the verdict (RunRecord::reason). `reference`: a run of the same case;
/// its operators are compared with these unless the run itself shows a cause with a higher cost. Throws
/// Error{kBadInput} when the run is unknown, or when the cases differ.
Measured<Diagnosis> diagnose_run(const store::RunStore& store, const store::RunId& id,
                                 const std::optional<store::RunRecord>& reference = {});

/// One sentence for reports: the verdict, or the reason why there is none.
std::string verdict_or_reason(const Measured<Diagnosis>& diagnosis);

}  // namespace ddbench::analyzer
