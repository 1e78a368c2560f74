#pragma once

#include <string>

#include "reports/tables/report.h"

namespace ddbench::reports {

// One self-contained page each: headline, caveats, charts (figure_svg), tables that can be sorted. Light and
// dark, narrow and wide, fit for print; asks no other host for anything and says so to the browser
// (Content-Security-Policy).

std::string run_html(const RunReport& report);
std::string sweep_html(const SweepReport& report);

}  // namespace ddbench::reports
