#pragma once

#include <string>

#include "analyzer/statistics/ratio_interval.h"
#include "core/measured.h"

namespace ddbench::reports {

std::string interval_in_words(const ConfidenceInterval& interval);          ///< "0.87 to 0.93"
std::string percent_interval_in_words(const ConfidenceInterval& interval);  ///< "87.1–93.0%" of shares
/// "1.06 ±0.12": half the width of the interval; the value alone without one.
std::string with_half_width(double value, const Measured<ConfidenceInterval>& interval);
/// "×1.250 (1.220 to 1.281)"; "–" when missing, the ratio alone without an interval.
std::string ratio_in_words(const Measured<analyzer::RunRatio>& ratio);

}  // namespace ddbench::reports
