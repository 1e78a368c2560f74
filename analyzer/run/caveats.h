#pragma once

#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"

namespace ddbench::analyzer {

/// The caveats of a summary that is complete but for its notes, gravest first.
std::vector<std::string> notes_on(const RunSummary& summary);

}  // namespace ddbench::analyzer
