#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/measured.h"
#include "core/run_case/records.h"

namespace ddbench::reports::csv {

// Fields ready to be written between commas.

std::string real(double value);  ///< empty when not finite
std::string real(const Measured<double>& value);
std::string utc(std::int64_t wall_ns);  ///< "2026-11-21T00:19:05Z"; empty for 0

/// ",forward_ns,backward_ns,..." and the values in the same order.
std::string partition_names();
std::string partition_values(const store::StepPartition& partition);
std::string empty_partition();

}  // namespace ddbench::reports::csv
