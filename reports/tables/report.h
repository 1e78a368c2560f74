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

/// What a report of one run tells; the HTML and Markdown writers take it.
struct RunReport {
  analyzer::RunSummary summary;
  Measured<analyzer::Diagnosis> diagnosis = Measured<analyzer::Diagnosis>::missing("not asked for");
  Measured<analyzer::AdviceReport> advice = Measured<analyzer::AdviceReport>::missing("not asked for");
  Measured<analyzer::CriticalPath> path = Measured<analyzer::CriticalPath>::missing("not asked for");
  std::vector<analyzer::Figure>
      figures;  ///< waterfall, partition, step time, ranks, bandwidth, loss: those with data
};

/// What a report of a sweep tells.
struct SweepReport {
  analyzer::ScalingTable table;
  std::vector<analyzer::RunSummary> runs;  ///< oldest first
  std::vector<analyzer::Figure> figures;
};

/// Throw Error{kBadInput} when there is no such run or sweep.
RunReport run_report(const store::RunStore& store, const store::RunId& id);
SweepReport sweep_report(const store::RunStore& store, const std::string& sweep_id);

}  // namespace ddbench::reports
