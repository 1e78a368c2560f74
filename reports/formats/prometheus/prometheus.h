#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analyzer/run/run_summary.h"

namespace ddbench::reports {

/// Runs as gauges in Prometheus's text exposition format (version 0.0.4), for a text file collector or a push gateway. Base
/// units: seconds, bytes, and rates in units of 1. Each sample has the labels `run` and `name`; `ddbench_run_info` has those of the case
/// and its environment. What was not measured has no sample: a rule that needs one uses absent(). Steps of failed or invalid
/// runs have none either, but `ddbench_run_info` says their state.
std::string runs_prometheus(std::span<const analyzer::RunSummary> runs);

/// How a run goes that is going on.
struct LiveFigures {
  std::string run;
  std::string name;
  std::uint64_t steps = 0;
  std::optional<double> steps_per_s;
  std::optional<double> communication_share;
  std::string verdict;   ///< empty: nobody is named
  double updated_s = 0;  ///< seconds since 1970
};

/// The same of a run that is going on, as gauges whose names begin with ddbench_live_.
std::string live_prometheus(const LiveFigures& figures);

}  // namespace ddbench::reports
