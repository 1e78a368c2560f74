#pragma once

#include <span>
#include <string>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// Throws Error{kBadInput} that names field and values when the runs differ in more than points of one curve
/// may (kWithinCurve). SKUs may differ from size to size, but not within one.
void require_one_curve(std::span<const store::RunRecord> runs);

/// The provenances of the curve when they are mixed ("measured (1, 2 GPUs) and measured+oversubscribed (4
/// GPUs)"), else empty.
std::string mixed_provenance(std::span<const store::RunRecord> runs);

/// "two SKUs ...": which sizes ran on which SKU, where a curve has several; else empty.
std::string several_skus(std::span<const store::RunRecord> runs);

}  // namespace ddbench::analyzer
