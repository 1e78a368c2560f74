#pragma once

#include <string>

#include "reports/tables/report.h"

namespace ddbench::reports {

// GitHub-flavoured Markdown, fit for a pull-request comment: headline, caveats and tables, the long ones
// folded. Under 60,000 characters (GitHub takes 65,536): what does not fit is left out with a line that says
// so. Names come out harmless: no markup, link, mention or issue reference comes of them.

std::string run_markdown(const RunReport& report);
std::string sweep_markdown(const SweepReport& report);

}  // namespace ddbench::reports
