#include "harness/experiment/mlflow/tracking_run.h"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace ddbench::experiment {
namespace {

using Json = nlohmann::json;

constexpr const char* kApi = "/api/2.0/mlflow/";
constexpr std::size_t kLongestReason = 200;
constexpr int kMostCreates = 5;

std::string encoded(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~');
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return result;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What MLflow says of an error; the beginning of anything else.
std::string reason_in(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  const std::string text = json.is_object() && json.contains("message") && json["message"].is_string() ? json["message"].get<std::string>() : body;
  return text.substr(0, kLongestReason);
}

/// A text in the answer.
std::string text_at(const std::string& body, const Json::json_pointer& place) {
  const Json json = Json::parse(body, nullptr, false);
  const std::string text = json.is_object() && json.contains(place) && json.at(place).is_string() ? json.at(place).get<std::string>() : "";
  // Without a run's id each heartbeat would make another run there.
  if (text.empty()) throw TrackingRefused{fmt::format("the answer has no {}: is this a tracking server of MLflow?", place.to_string())};
  return text;
}

Json pairs(const std::map<std::string, std::string>& values, std::size_t most) {
  Json list = Json::array();
  for (const auto& [key, value] : values) {
    if (list.size() < most) list.push_back({{"key", key}, {"value", value}});
  }
  return list;
}

}  // namespace

TrackingRun::TrackingRun(TrackingSettings settings, std::unique_ptr<http::Client> client, std::function<std::chrono::milliseconds()> time_left)
    : settings_(std::move(settings)), client_(std::move(client)), time_left_(std::move(time_left)) {}

std::string TrackingRun::send(const char* method, const std::string& call, const std::string& body, bool may_lack) {
  http::Request request;
  request.method = method;
  request.url = settings_.uri + kApi + call;
  request.timeout = time_left_();
  if (request.timeout.count() <= 0) throw Error(ErrorCode::kEnvironment, fmt::format("{}: no time was left", call.substr(0, call.find('?'))));
  if (!settings_.token.empty()) request.headers.push_back("Authorization: Bearer " + settings_.token);
  request.user = settings_.user;
  request.password = settings_.password;
  if (!body.empty()) request.headers.emplace_back("Content-Type: application/json");
  request.body = body;
  const http::Response response = client_->send(request);
  if (response.status == 200) return response.body;
  if (response.status == 404 && may_lack) return {};
  const std::string reason = fmt::format("{}: HTTP status {}: {}", call.substr(0, call.find('?')), response.status, reason_in(response.body));
  if (response.status == 429 || response.status >= 500) throw Error(ErrorCode::kEnvironment, reason);
  throw TrackingRefused{reason};
}

std::string TrackingRun::experiment() {
  if (!settings_.experiment_id.empty()) return settings_.experiment_id;
  const std::string& name = settings_.experiment_name;
  const std::string found = send("GET", "experiments/get-by-name?experiment_name=" + encoded(name), "", true);
  if (!found.empty()) return text_at(found, "/experiment/experiment_id"_json_pointer);
  try {
    return text_at(send("POST", "experiments/create", dumped({{"name", name}})), "/experiment_id"_json_pointer);
  } catch (const TrackingRefused&) {
    // Another process made it meanwhile.
    const std::string made = send("GET", "experiments/get-by-name?experiment_name=" + encoded(name), "", true);
    if (made.empty()) throw;
    return text_at(made, "/experiment/experiment_id"_json_pointer);
  }
}

void TrackingRun::create(const std::string& name, std::int64_t start_ms) {
  settings_.experiment_id = experiment();
  Json tags = Json::array({{{"key", "mlflow.source.name"}, {"value", "ddbench"}}, {{"key", "mlflow.runName"}, {"value", name}}});
  if (!settings_.parent_run.empty()) tags.push_back({{"key", "mlflow.parentRunId"}, {"value", settings_.parent_run}});
  const Json body = {{"experiment_id", settings_.experiment_id}, {"start_time", start_ms}, {"run_name", name}, {"tags", tags}};
  try {
    run_id_ = text_at(send("POST", "runs/create", dumped(body)), "/run/info/run_id"_json_pointer);
  } catch (const Error& error) {
    // A server that is slow to answer makes a run each time.
    if (++unanswered_creates_ == kMostCreates)
      throw TrackingRefused{fmt::format("runs/create was tried {} times: {}", kMostCreates, error.message())};
    throw;
  }
}

void TrackingRun::log(std::span<const TrackedMetric> metrics) {
  Json list = Json::array();
  for (const TrackedMetric& metric : metrics)
    list.push_back({{"key", metric.key}, {"value", metric.value}, {"timestamp", metric.time_ms}, {"step", metric.step}});
  send("POST", "runs/log-batch", dumped({{"run_id", run_id_}, {"metrics", list}}));
}

void TrackingRun::log(const std::map<std::string, std::string>& params, const std::map<std::string, std::string>& tags) {
  send("POST", "runs/log-batch", dumped({{"run_id", run_id_}, {"params", pairs(params, kMostParams)}, {"tags", pairs(tags, kMostTags)}}));
}

void TrackingRun::end(const std::string& status, std::int64_t end_ms) {
  send("POST", "runs/update", dumped({{"run_id", run_id_}, {"status", status}, {"end_time", end_ms}}));
}

}  // namespace ddbench::experiment
