#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/run/run_summary.h"

namespace ddbench::analyzer {

/// The caveats of a summary that is complete but for its notes, gravest first.
std::vector<std::string> notes_on(const RunSummary& summary);

/// The cost of the probes as notes and tables state it: "6.5%, at most 13.6%"; where it is not above 0, "at most 0.4%".
std::string probe_cost_in_words(const Estimate& percent);

/// Bytes that a rank sends in a step.
struct GradientTraffic {
  double theory_bytes = 0;           ///< that the strategy requires
  std::string formula;               ///< "2 (n-1)/n S"; S: bytes of the gradients
  std::optional<double> wire_bytes;  ///< by the kernel's counters, with headers, start-up and shutdown; where all of it crossed links
};
std::optional<GradientTraffic> gradient_traffic(const RunSummary& summary);

}  // namespace ddbench::analyzer
