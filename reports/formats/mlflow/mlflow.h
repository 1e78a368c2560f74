#pragma once

#include <filesystem>
#include <string>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::reports {

struct MlflowRun {
  std::string experiment_id;
  std::string run_uuid;
  std::filesystem::path directory;
};

/// Writes a run into an MLflow file store (`mlflow ui --backend-store-uri <root>`), under the experiment
/// "ddbench", which is created when there is none: the case as params, step time, loss and parts of the step
/// as metrics per step, the headline as metrics, tags, and the HTML and JSON reports as artifacts. The same
/// run exported again replaces itself. Each run appears at once, complete, by a rename; nothing is left
/// behind on failure.
///
/// Keys that MLflow would refuse, or that would leave the store as paths, are spelled with other characters
/// and a hash. Throws Error: kBadInput on an unknown run or a root that is no directory, kRunFailed when
/// writing fails; both name it.
MlflowRun export_mlflow(const store::RunStore& store, const store::RunId& id,
                        const std::filesystem::path& root);

}  // namespace ddbench::reports
