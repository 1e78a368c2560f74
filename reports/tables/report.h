#pragma once

#include <string>
#include <vector>

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
  std::vector<analyzer::Figure>
      figures;  ///< waterfall, partition, step time, ranks, bandwidth, loss: those with data
};

/// The content of a report of a sweep.
struct SweepReport {
  analyzer::ScalingTable table;
  std::vector<analyzer::RunSummary> runs;  ///< oldest first
  std::vector<analyzer::Figure> figures;
};

/// Throws Error{kBadInput} when the run or sweep does not exist.
RunReport run_report(const store::RunStore& store, const store::RunId& id);
SweepReport sweep_report(const store::RunStore& store, const std::string& sweep_id);

}  // namespace ddbench::reports
