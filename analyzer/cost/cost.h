#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/figure/figure.h"
#include "analyzer/statistics/statistics.h"
#include "core/run_case/run_case.h"

namespace ddbench::analyzer {

inline constexpr double kSecondsAnHour = 3600;

/// How often a job is interrupted by force, and how much work it then loses.
struct Interruptions {
  double mean_hours_between = 0;  ///< of the whole job; 0: never
  double checkpoint_s = 0;        ///< to write one
  double restart_s = 0;           ///< from the interruption until training goes on
};

struct CheckpointPlan {
  double interval_s = 0;   ///< of training between checkpoints
  double time_factor = 1;  ///< expected time of the job over the time of undisturbed training
};

/// The checkpoint interval that makes the expected time shortest, and that time, for interruptions that come
/// independently: Daly (2006), eq. 37 (whose first term is Young's sqrt(2 delta M), 1974) and eq. 13:
/// M exp(R/M) (exp((tau + delta)/M) - 1)/tau. Throws Error{kBadInput} on numbers that are negative or not
/// finite, or interruptions without a checkpoint time.
CheckpointPlan plan_checkpoints(const Interruptions& interruptions);

/// A measured way to train: a number of nodes of a SKU and their samples/s.
struct Offer {
  std::string label;          ///< "4 x Standard_ND96asr_v4"
  std::string settings = {};  ///< what else sets it apart from other offers: "batch_per_gpu=64 precision=fp16"
  std::string sku;
  Measured<int> nodes = 1;  ///< missing where the runs do not state how their GPUs sit in nodes: what they cost is not known
  int gpus = 1;
  double samples_per_s = 0;
  std::optional<ConfidenceInterval> interval;  ///< of samples_per_s
  /// The rate without the checkpoints that the measured runs wrote, over samples_per_s: a plan of checkpoints replaces them.
  double rate_without_checkpoints = 1;
  ProvenanceSet provenance;
};

/// Of a step of which checkpoints are `checkpoint_ns`: 1 where they are none, or all of it.
double rate_without_checkpoints(double step_time_ns, double checkpoint_ns);

struct CostOptions {
  Measured<double> samples_per_epoch = Measured<double>::missing("not given (--epoch-samples)");
  Measured<double> samples_total = Measured<double>::missing("not given (--samples or --epochs)");
  Measured<double> deadline_h = Measured<double>::missing("not given (--deadline)");
  double checkpoint_s = 60;
  std::string checkpoint_source = "assumed";  ///< of checkpoint_s: "assumed", "measured", "given"
  double restart_s = 300;
  /// Of one node, in hours, on demand; 0: on-demand nodes never fail.
  double node_mtbf_h = 0;
};

/// What one offer costs, on demand or on spot nodes.
struct CostRow {
  Offer offer;
  bool spot = false;
  bool is_assumed = false;  ///< on spot nodes whose price and preemption rate come only from the catalogue
  Measured<double> usd_per_h = Measured<double>::missing("no price");  ///< of all nodes; missing as well where nothing could be bought for it
  Measured<Quantity> usd_per_million_samples = Measured<Quantity>::missing("no price");
  Measured<double> usd_per_epoch = Measured<double>::missing("no price");
  /// Expected, for samples_total; missing where spot nodes are preempted nobody knows how often.
  Measured<double> hours = Measured<double>::missing("no amount of samples");
  Measured<double> usd = Measured<double>::missing("no amount of samples");  ///< for samples_total
  /// What follows of the throughput's interval; prices and interruptions have none.
  Measured<ConfidenceInterval> hours_interval = Measured<ConfidenceInterval>::missing("no amount of samples");
  Measured<ConfidenceInterval> usd_interval = Measured<ConfidenceInterval>::missing("no amount of samples");
  CheckpointPlan checkpoints;  ///< interval_s 0: nothing interrupts the job, as far as is known
  std::string unplanned;       ///< why there is no plan of checkpoints, nor what depends on it; empty where there is one
  bool meets_deadline = true;
  bool on_front = false;   ///< no other row is both cheaper and faster
  std::string price_note;  ///< source and date of the price, "unverified" where it is
};

struct CostTable {
  std::vector<CostRow> rows;  ///< cheapest a million samples first; without a price last
  /// Index into rows: the cheapest that meets the deadline, not counting assumed ones; -1: none, or no
  /// deadline.
  int cheapest_in_time = -1;
  std::vector<std::string> notes;
};

inline constexpr const char* kNodesNotStated = "the source does not state how its GPUs sit in nodes (a table: in a column nodes or gpus_per_node)";
/// The nodes of an offer of such a case.
Measured<int> nodes_to_rent(const RunCase& run_case);

/// Each offer on demand, and on spot nodes where the catalogue (or --price) knows their price and preemption
/// rate. An offer's SKU that is not in the catalogue has no price. Throws Error{kBadInput} on offers or
/// options that make no sense.
CostTable cost_table(std::span<const Offer> offers, const SkuCatalogue& catalogue,
                     const CostOptions& options);

/// Cost over time to train samples_total, with the Pareto front; without an amount of samples, cost per
/// million samples over 1/throughput.
Figure cost_figure(const CostTable& table);

}  // namespace ddbench::analyzer
