#pragma once

#include <cstdint>
#include <string>

#include "core/measured.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// The probes cannot resolve intervals of single collectives below this: two clock readings and the call
/// between them.
inline constexpr std::int64_t kProbeResolution_ns = 1000;

/// Why collective tests (ddbench micro, nccl-tests) have no peer wait.
inline constexpr const char* kNoArrivals = "batches of iterations are timed, not arrivals";

/// A stored collective with derived figures. A figure that was not measured is missing, with its reason and
/// bound.
struct CollectiveSummary {
  store::CollectiveRecord record;
  std::string communicator = {};  ///< communicator_label(): empty for that of all ranks
  /// Missing where the clocks or the probes do not resolve it: "below clock resolution (< 1.00 µs)".
  Measured<std::int64_t> transfer_ns = Measured<std::int64_t>::missing("no transfer");
  /// Missing likewise, and for collective tests (kNoArrivals).
  Measured<std::int64_t> peer_wait_ns = Measured<std::int64_t>::missing("below clock resolution");
  /// bytes / transfer time, 1e9 B/s; missing without a transfer, on one rank, and where it is more than any memory
  /// delivers (the call was enqueued in that time, and not carried out)
  Measured<double> algbw_gb_per_s = Measured<double>::missing("no transfer");
  /// algbw * bus_factor(function, ranks of the collective's communicator); missing for functions without one, and where
  /// the size of the communicator is not known
  Measured<double> busbw_gb_per_s = Measured<double>::missing("no transfer");
  /// For both: the uncertainty (+-) that the clocks leave in the transfer, and so in the bandwidth, as a
  /// share.
  double clock_uncertainty_share = 0;
};

/// Computes all of the above for a collective of `run`.
CollectiveSummary summarize_collective(const store::CollectiveRecord& record, const store::RunRecord& run);

/// The transfer time, as comparisons use it. Missing, with the reason, where it is not resolved, and where the bytes cannot have been
/// carried in it.
Measured<double> carried_transfer_ns(const CollectiveSummary& collective);

/// Whether a rank's median time in the collective is shorter than the transfer: most ranks leave before the
/// last one ends.
bool leaves_before_its_end(const CollectiveSummary& collective);

}  // namespace ddbench::analyzer
