#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/predict/advice.h"
#include "analyzer/predict/back_test.h"
#include "analyzer/predict/path/critical_path.h"
#include "analyzer/predict/predict_run.h"
#include "analyzer/scaling/scaling_curve.h"
#include "core/measured.h"
#include "reports/tables/data_table.h"

namespace ddbench::reports {

// What is said of advice and predictions, whatever the format.

/// What `ddbench predict` has to show.
struct PredictionReport {
  std::string run;
  analyzer::ClusterShape recorded;
  double recorded_step_ns = 0;
  double recorded_samples_per_s = 0;
  bool counts_samples = true;  ///< else rates are steps of all ranks a second
  double replay_ratio = 1;  ///< a replay of the run itself over what was recorded
  std::vector<analyzer::ReplayPrediction> predictions;
  std::vector<std::string> assumptions;
};
DataTable prediction_data(const PredictionReport& report);

/// `ddbench predict --validate`: each size of a curve, and what smaller ones said of it. Both are by size, of the same sizes.
struct ValidationReport {
  std::vector<analyzer::ValidatedSize> laws;
  std::vector<analyzer::ReplayedSize> replays;
  bool counts_samples = true;  ///< else rates are steps of all ranks a second
};
DataTable validation_data(const ValidationReport& report);
/// How far a prediction was off: predicted over measured, minus 1, and whether its interval holds what was measured.
struct PredictionError {
  double error = 0;
  bool held = false;
};
Measured<PredictionError> law_error(const analyzer::ValidatedSize& size);
Measured<PredictionError> replay_error(const analyzer::ReplayedSize& size);
/// Median and worst error of each kind of prediction, and how many intervals hold: a sentence for each with predictions.
std::vector<std::string> validation_remarks(const ValidationReport& report);

/// "+59.6%", "-3.0%".
std::string gain_in_words(double gain);
/// The changes that gain, the largest gain first; `most` of them.
DataTable advice_data(const analyzer::AdviceReport& report, std::size_t most = 100);
/// Where the critical path across ranks lies: parts, ranks, collectives and operators with their slack; of the last `most`.
DataTable path_data(const analyzer::CriticalPath& path, std::size_t most = 40);
/// Changes that gain nothing or are not known, and notes: a sentence each.
std::vector<std::string> advice_remarks(const analyzer::AdviceReport& report);

}  // namespace ddbench::reports
