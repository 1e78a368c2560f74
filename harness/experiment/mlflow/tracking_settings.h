#pragma once

#include <map>
#include <string>

#include "core/measured.h"

namespace ddbench::experiment {

/// Where runs are logged, as MLflow's own variables say.
struct TrackingSettings {
  std::string uri;            ///< http or https, without a slash at its end
  std::string user;           ///< of basic authentication; empty: none
  std::string password;
  std::string token;          ///< a bearer's, where there is no user; empty: none
  std::string experiment_id;  ///< empty: by name
  std::string experiment_name = "ddbench";
  std::string parent_run;  ///< a run of MLflow that is open for this process, as in jobs of Azure ML; empty: none
};

/// MLFLOW_TRACKING_URI (http://, https://, or azureml://, which is https with the same path), MLFLOW_TRACKING_TOKEN or
/// MLFLOW_TRACKING_USERNAME with MLFLOW_TRACKING_PASSWORD, MLFLOW_EXPERIMENT_ID, MLFLOW_EXPERIMENT_NAME, MLFLOW_RUN_ID. Missing with the
/// reason where there is no URI (an empty reason), or none of a server. Throws Error{kBadInput} for credentials with line ends.
Measured<TrackingSettings> tracking_settings(const std::map<std::string, std::string>& variables);

}  // namespace ddbench::experiment
