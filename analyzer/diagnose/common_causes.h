#pragma once

#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

// Causes that delay all ranks equally, so that no rank's own work shows them. Each replaces a diagnosis with
// a lower cost.

/// A link that is slower than the others, if connections were counted. Otherwise, if communication takes a
/// fifth of the step, a note states why no link can be located, and what to run.
void look_for_slow_link(const store::RunStore& store, const store::RunId& run, const WorkTable& table, Diagnosis& diagnosis);

/// An operator that takes longer on all ranks than earlier in the run.
void look_for_slow_operator(const store::RunStore& store, const store::RunId& run, const WorkTable& table, Diagnosis& diagnosis);

/// The same against the steps of another run of the same case. Throws Error{kBadInput} when the cases differ.
void compare_operators(const store::RunStore& store, const store::RunRecord& run, const store::RunRecord& reference,
                       const WorkTable& table, Diagnosis& diagnosis);

}  // namespace ddbench::analyzer
