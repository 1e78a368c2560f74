#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

inline constexpr std::string_view kChooseRuns =
    "Choose with --where field=value, or compare them with `ddbench compare --by field`";

/// Throws Error{kBadInput} that names field and values, and `remedy`, when the runs differ in more than points of one curve
/// may (kWithinCurve). SKUs may differ from size to size, but not within one.
void require_one_curve(std::span<const store::RunRecord> runs, std::string_view remedy = kChooseRuns);

/// The provenances of the curve when they are mixed ("measured (1, 2 GPUs) and measured+oversubscribed (4
/// GPUs)"), else empty.
std::string mixed_provenance(std::span<const store::RunRecord> runs);

/// "two SKUs ...": which sizes ran on which SKU, where a curve has several; else empty.
std::string several_skus(std::span<const store::RunRecord> runs);

}  // namespace ddbench::analyzer
