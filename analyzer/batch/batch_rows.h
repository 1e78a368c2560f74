#pragma once

#include "analyzer/batch/batch_analysis.h"

namespace ddbench::analyzer {

/// One run with its data on batch and noise.
struct BatchRun {
  store::RunRecord run;
  double step_time_ns = 0;  ///< 0: no steps
  Measured<StepsTowardsTarget> steps = Measured<StepsTowardsTarget>::missing("not looked for");
  std::vector<GradientNorms> norms;
};

/// The row of runs of one size and batch (and of one learning rate or several: the runs that judge the best
/// one are kept, with a note).
BatchRow batch_row(std::vector<BatchRun> runs, const SkuCatalogue& catalogue,
                   std::vector<std::string>& notes);

}  // namespace ddbench::analyzer
