#pragma once

#include <cstddef>
#include <optional>
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

// The content of advice and predictions, for every format.

/// The data that `ddbench predict` shows.
struct PredictionReport {
  std::string run;
  analyzer::ClusterShape recorded;
  double recorded_step_ns = 0;
  double recorded_samples_per_s = 0;
  bool counts_samples = true;  ///< else rates are steps of all ranks a second
  double replay_ratio = 1;  ///< predicted over measured, for a replay of the run itself
  /// The same with modelled transfers; empty where all predictions have recorded ones.
  std::optional<double> modelled_ratio;
  std::vector<analyzer::ReplayPrediction> predictions;
  std::vector<std::string> assumptions;
};
DataTable prediction_data(const PredictionReport& report);

/// `ddbench predict --validate`: each size of a curve, and the predictions made for it from smaller sizes.
/// Both lists have the same sizes in the same order.
struct ValidationReport {
  std::vector<analyzer::ValidatedSize> laws;
  std::vector<analyzer::ReplayedSize> replays;
  bool counts_samples = true;  ///< else rates are steps of all ranks a second
};
DataTable validation_data(const ValidationReport& report);
/// The error of a prediction: predicted over measured, minus 1, and whether its interval contains the
/// measured value.
struct PredictionError {
  double error = 0;
  bool held = false;
};
Measured<PredictionError> law_error(const analyzer::ValidatedSize& size);
Measured<PredictionError> replay_error(const analyzer::ReplayedSize& size);
/// Median and worst error of each kind of prediction, and how many intervals contain the measured value: one
/// sentence per kind.
std::vector<std::string> validation_remarks(const ValidationReport& report);

/// "+59.6%", "-3.0%".
std::string gain_in_words(double gain);
/// The changes that bring a gain, largest first; at most `most` of them.
DataTable advice_data(const analyzer::AdviceReport& report, std::size_t most = 100);
/// Where the critical path across ranks lies: parts, ranks, collectives and operators with their slack; at
/// most `most` operators.
DataTable path_data(const analyzer::CriticalPath& path, std::size_t most = 40);
/// Changes without a gain or with an unknown one, and notes: one sentence each.
std::vector<std::string> advice_remarks(const analyzer::AdviceReport& report);

}  // namespace ddbench::reports
