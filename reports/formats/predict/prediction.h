#pragma once

#include <string>
#include <vector>

#include "analyzer/predict/advice.h"
#include "analyzer/predict/predict_run.h"
#include "analyzer/scaling/scaling_curve.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

/// What `ddbench predict` has to show.
struct PredictionReport {
  std::string run;
  analyzer::ClusterShape recorded;
  double recorded_step_ns = 0;
  double recorded_samples_per_s = 0;
  double replay_ratio = 1;  ///< a replay of the run itself over what was recorded
  std::vector<analyzer::ReplayPrediction> predictions;
  std::vector<std::string> assumptions;
};

std::string prediction_text(const PredictionReport& report, const TextStyle& style);
/// reports/schema/prediction.schema.json
std::string prediction_json(const PredictionReport& report);

/// `ddbench predict --validate`: each size of a curve beside what the smaller ones said.
std::string validation_text(const std::vector<analyzer::ValidatedSize>& sizes, const TextStyle& style);
/// reports/schema/validation.schema.json
std::string validation_json(const std::vector<analyzer::ValidatedSize>& sizes);

std::string advice_text(const analyzer::AdviceReport& report, const TextStyle& style);
/// reports/schema/advice.schema.json
std::string advice_json(const analyzer::AdviceReport& report);

}  // namespace ddbench::reports
