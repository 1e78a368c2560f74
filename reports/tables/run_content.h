#pragma once

#include <string>
#include <vector>

#include "analyzer/catalogue/rated_link.h"
#include "analyzer/run/run_summary.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

// The content of a report of a run, for every format.

/// A number shown at the top.
struct Tile {
  std::string label;
  std::string value;
  std::string detail;
  CellTone tone = CellTone::kPlain;
};

std::string run_title(const analyzer::RunSummary& summary);  ///< its name, else workload and shape
std::string run_subtitle(
    const analyzer::RunSummary& summary);  ///< workload, shape, batch, device, network, ...
/// Why the figures must not be used, or are not complete: invalid, failed, interrupted, preempted, running.
/// Empty when all is well.
std::vector<std::string> run_alarms(const analyzer::RunSummary& summary);
/// notes of the summary that are not among the alarms
std::vector<std::string> run_notes(const analyzer::RunSummary& summary);
std::vector<Tile> run_tiles(const analyzer::RunSummary& summary);
/// "lost 2.10 ms of a step of 13.7 ms, most of it to exposed transfer 1.90 ms; 0.10 ms won elsewhere". If the
/// machine was overloaded (analyzer::overload_of), the text states that instead of the parts. If nothing is
/// lost, it is largest_part. The run must have an efficiency.
std::string where_lost(const analyzer::RunSummary& summary);
/// "the largest part of the step is data wait, 8.3 ms (56.0%)": an efficiency does not show losses that the
/// reference has too. Empty without a partition, and for an invalid run.
std::string largest_part(const analyzer::RunSummary& summary);
/// where_lost as a sentence; or why the efficiency is not known, and largest_part.
std::string run_verdict(const analyzer::RunSummary& summary);

/// Whether the learning rate of core/run_case/learning_rate.h applies to the run: not for programs, imports
/// and collective tests.
bool applies_learning_rate(const analyzer::RunSummary& summary);

/// "9,903 samples/s" and "global batch 1,024, 60 measured steps"; steps/s if the number of samples per step
/// is not known.
struct ThroughputInWords {
  std::string value;
  std::string detail;
};
ThroughputInWords throughput_in_words(const analyzer::RunSummary& summary);

DataTable partition_data(const analyzer::RunSummary& summary);  ///< the parts of a step; empty without steps
DataTable loss_data(const analyzer::RunSummary& summary);       ///< the waterfall; empty where the efficiency is not known
DataTable measures_data(const analyzer::RunSummary& summary);   ///< key figures with intervals and methods
/// With `link`, the rated link of the run: the column "of link", the bus bandwidth as a share of it (share_of_link), or why there is none.
DataTable collectives_data(const analyzer::RunSummary& summary, const Measured<analyzer::RatedLink>* link = nullptr);
DataTable ranks_data(const analyzer::RunSummary& summary);
/// For a program, the part of the step time that was in no operator and no collective, by cause; empty for
/// others, and without steps.
DataTable gaps_data(const analyzer::RunSummary& summary);
DataTable kernels_data(const analyzer::RunSummary& summary, std::size_t most = 40);
DataTable case_data(const store::RunRecord& run);  ///< fields of the case that have a meaning for it (has_meaning), tags
DataTable environment_data(const store::RunRecord& run);

/// "95% CI 87.1% to 93.0%, Welch's t of logarithms over 3 and 3 runs", or the reason why there is none.
std::string efficiency_interval_in_words(const analyzer::Efficiency& efficiency);

/// Why a run of --steps auto ended, and how narrow its intervals are: "stopped after 412 steps: half-width 0.9% (goal 1%)".
/// Empty for other runs.
std::string end_in_words(const analyzer::RunSummary& summary);
/// "3.0% of the time was lost in 1.0% of the steps (4 outliers)"; empty without outliers.
std::string outliers_in_words(const analyzer::StepDistribution& steps);

}  // namespace ddbench::reports
