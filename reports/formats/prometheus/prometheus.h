#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analyzer/run/run_summary.h"

namespace ddbench::reports {

/// Runs as gauges in Prometheus's text exposition format (version 0.0.4), for a text file collector or a push
/// gateway. Base units: seconds, bytes, and rates in units of 1. Each sample has the labels `run` and `name`;
/// `ddbench_run_info` has those of the case and its environment. A figure that was not measured has no
/// sample: a rule that depends on one should use absent(). Figures of failed or invalid runs have no samples
/// either, but `ddbench_run_info` states their state.
std::string runs_prometheus(std::span<const analyzer::RunSummary> runs);

/// The progress of a running run.
struct LiveFigures {
  std::string run;
  std::string name;
  std::uint64_t steps = 0;
  std::optional<double> steps_per_s;
  std::optional<double> communication_share;
  std::string verdict;   ///< empty: no rank is named
  double updated_s = 0;  ///< seconds since 1970
};

/// The figures of a running run, as gauges whose names begin with ddbench_live_.
std::string live_prometheus(const LiveFigures& figures);

}  // namespace ddbench::reports
