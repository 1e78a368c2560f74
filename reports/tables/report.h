#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/collectives/micro_table.h"
#include "analyzer/diagnose/diagnosis.h"
#include "analyzer/figure/figure.h"
#include "analyzer/predict/advice.h"
#include "analyzer/predict/path/critical_path.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/store/rows/run_store.h"
#include "core/measured.h"

namespace ddbench::reports {

/// The content of a report of one run, for the HTML and Markdown writers.
struct RunReport {
  analyzer::RunSummary summary;
  Measured<analyzer::Diagnosis> diagnosis = Measured<analyzer::Diagnosis>::missing("not asked for");
  Measured<analyzer::AdviceReport> advice = Measured<analyzer::AdviceReport>::missing("not asked for");
  Measured<analyzer::CriticalPath> path = Measured<analyzer::CriticalPath>::missing("not asked for");
  std::optional<analyzer::MicroTable> micro;  ///< measurements_of_micro()
  std::vector<analyzer::Figure>
      figures;  ///< waterfall, partition, step time, ranks, bandwidth, loss: those with data
  std::string prediction;  ///< prediction_options() of next_steps.h
  std::string db;          ///< the store that --db named, for the commands of the report; empty: the default
};

/// The content of a report of a sweep.
struct SweepReport {
  analyzer::ScalingTable table;
  std::vector<analyzer::RunSummary> runs;  ///< oldest first
  std::vector<analyzer::Figure> figures;
  std::string db;  ///< as RunReport
};

/// What a run of `ddbench micro` measured. Empty for other runs, and where it ended before it measured anything.
std::optional<analyzer::MicroTable> measurements_of_micro(const store::RunStore& store, const store::RunRecord& run);

/// Throws Error{kBadInput} when the run or sweep does not exist.
RunReport run_report(const store::RunStore& store, const store::RunId& id, const std::string& db = {});
SweepReport sweep_report(const store::RunStore& store, const std::string& sweep_id, const std::string& db = {});

}  // namespace ddbench::reports
