#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/collectives/alpha_beta.h"
#include "analyzer/cost/cost.h"
#include "analyzer/figure/figure.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/statistics/ratio_interval.h"

namespace ddbench::analyzer {

/// The runs of one case (ignoring the field) that have one value of the field.
struct GroupRow {
  RunCase run_case;
  int world_size = 0;
  std::string value;    ///< of the field; "not proved" for a network that was not proved
  std::string variant;  ///< what else sets the row apart from others, beside its size: "workload=cnn
                        ///< batch_per_gpu=32"
  std::vector<store::RunId> runs;
  double samples_per_s = 0;  ///< geometric mean over runs, here and below
  std::vector<double> run_samples_per_s;
  std::string without_samples = {};  ///< as CaseFigures: why that is RunSummary::work_per_s instead; empty where it is not
  Measured<double> step_time_ns = Measured<double>::missing("no runs");
  double checkpoint_ns = 0;  ///< that checkpoints added to a step; part of step_time_ns
  Measured<double> exposed_ns =
      Measured<double>::missing("no partition");  ///< communication, a step
  Measured<double> exposed_share = Measured<double>::missing("no partition");  ///< of the step time
  /// Throughput a GPU over that of the smallest size with the same value (by link or network: or on one node,
  /// where neither is used).
  Measured<double> efficiency = Measured<double>::missing("no smaller size");
  /// Throughput over that with the reference value, in the same case; missing for the reference itself, and
  /// where the case was not run with it.
  Measured<RunRatio> against_reference = Measured<RunRatio>::missing("the reference");
  ProvenanceSet provenance;
};

/// Collectives of one function and size in one world (CollectiveWorld).
struct GroupCollective {
  std::string function;
  std::uint64_t bytes = 0;
  int ranks = 0;  ///< of the communicator; 0: not known
  std::string value;
  double transfer_ns = 0;  ///< geometric mean over runs of the median
  Measured<double> busbw_gb_per_s = Measured<double>::missing("no bus factor");
  Measured<RunRatio> against_reference = Measured<RunRatio>::missing("the reference");  ///< of the time
  ProvenanceSet provenance;
  std::string variant = {};  ///< variants_of_worlds(): "ranks 0-1, gloo"
};

/// Latency and bandwidth of the collectives of one function in one world, where three sizes or more were measured.
struct GroupFit {
  std::string function;
  int ranks = 0;
  std::string value;
  AlphaBetaFit fit;
  std::string variant = {};  ///< as GroupCollective
};

struct GroupComparison {
  std::string field;
  std::vector<std::string> values;           ///< the reference first
  std::vector<GroupRow> rows;                ///< by case and size, then value
  std::vector<GroupCollective> collectives;  ///< by function, ranks, variant, bytes, then value
  std::vector<GroupFit> fits;                ///< by function, ranks, variant, then value
  std::vector<std::string> notes;
};

/// Groups runs by a field (a name that --where accepts) and compares cases that are otherwise equal. If some
/// cases were run with several values, those with only one are left out with a note. `reference`: the value
/// with which others are compared; empty: the one with the most cases, among equals the oldest. Throws
/// Error{kBadInput} on an unknown field, on a reference that no run has, or when no run has figures.
GroupComparison compare_by(const store::RunStore& store, std::span<const store::RunRecord> runs,
                           const std::string& field, const std::string& reference = {});

/// A way to train for each row, for cost_table.
std::vector<Offer> offers_of(const GroupComparison& comparison);

/// Throughput over GPUs, a series a value (log-log).
Figure throughput_figure(const GroupComparison& comparison);
/// Bus bandwidth over size, a series a value (and number of ranks).
Figure bus_bandwidth_figure(const GroupComparison& comparison);

}  // namespace ddbench::analyzer
