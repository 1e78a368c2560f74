#include "harness/experiment/mlflow/tracking_settings.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench::experiment {
namespace {

constexpr std::string_view kAzureMl = "azureml://";

std::string value_of(const std::map<std::string, std::string>& variables, const std::string& name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return {};
  // A header must not end within a value.
  if (found->second.find_first_of("\r\n") != std::string::npos)
    throw Error(ErrorCode::kBadInput, fmt::format("{} has a line end: set it without", name));
  return found->second;
}

/// Moves the user and the password out of the URI (https://user:password@host), which messages show.
void take_credentials(TrackingSettings& settings) {
  const std::size_t begin = settings.uri.find("://") + 3;
  const std::size_t at = settings.uri.rfind('@', settings.uri.find('/', begin));
  if (at == std::string::npos || at < begin) return;
  const std::string credentials = settings.uri.substr(begin, at - begin);
  settings.uri.erase(begin, at + 1 - begin);
  if (!settings.user.empty()) return;
  const std::size_t colon = credentials.find(':');
  settings.user = credentials.substr(0, colon);
  settings.password = colon == std::string::npos ? std::string() : credentials.substr(colon + 1);
}

}  // namespace

Measured<TrackingSettings> tracking_settings(const std::map<std::string, std::string>& variables) {
  using Settings = Measured<TrackingSettings>;
  const auto value = [&](const char* name) { return value_of(variables, name); };
  TrackingSettings settings;
  settings.uri = value("MLFLOW_TRACKING_URI");
  if (settings.uri.empty()) return Settings::missing("");
  if (settings.uri.starts_with(kAzureMl)) settings.uri = "https://" + settings.uri.substr(kAzureMl.size());
  if (!settings.uri.starts_with("http://") && !settings.uri.starts_with("https://")) {
    return Settings::missing(fmt::format(
        "MLFLOW_TRACKING_URI is {}..., which is no server (http, https or azureml): write a file store with `ddbench report --format mlflow`",
        settings.uri.substr(0, settings.uri.find(':') + 1)));  // the rest may hold a password
  }
  settings.uri = settings.uri.substr(0, settings.uri.find('?'));
  while (settings.uri.ends_with('/')) settings.uri.pop_back();
  settings.user = value("MLFLOW_TRACKING_USERNAME");
  settings.password = value("MLFLOW_TRACKING_PASSWORD");
  take_credentials(settings);
  if (settings.user.empty()) {
    settings.token = value("MLFLOW_TRACKING_TOKEN");
    settings.password.clear();
  }
  settings.experiment_id = value("MLFLOW_EXPERIMENT_ID");
  if (const std::string name = value("MLFLOW_EXPERIMENT_NAME"); !name.empty()) settings.experiment_name = name;
  settings.parent_run = value("MLFLOW_RUN_ID");
  return settings;
}

}  // namespace ddbench::experiment
