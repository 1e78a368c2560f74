#pragma once

#include <string>

#include "reports/tables/report.h"

namespace ddbench::reports {

// GitHub-flavoured Markdown for a pull-request comment: headline, caveats and tables, the long ones folded.
// Under 60,000 characters (GitHub's limit is 65,536): the rest is left out, and a line states this. Names are
// made safe: they produce no markup, link, mention or issue reference.

std::string run_markdown(const RunReport& report);
std::string sweep_markdown(const SweepReport& report);

}  // namespace ddbench::reports
