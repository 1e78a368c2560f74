#pragma once

#include <string>

#include "reports/tables/report.h"

namespace ddbench::reports {

// Self-contained pages: headline, caveats, charts (figure_svg), sortable tables. For light and dark themes,
// narrow and wide windows, and print. A page loads nothing from other hosts and forbids it by its
// Content-Security-Policy.

std::string run_html(const RunReport& report);
std::string sweep_html(const SweepReport& report);

}  // namespace ddbench::reports
