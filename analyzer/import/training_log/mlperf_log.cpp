#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyzer/import/training_log/log_rows.h"
#include "core/error.h"

namespace ddbench::imports {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMark = ":::MLLOG ";
constexpr double kLargestWhole = 9e15;

std::optional<double> number_in(const Json& json, const char* key) {
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// An entry's value is a number, or an object that has one under the key.
std::optional<double> value_of(const Json& entry, const std::string& key, const char* wanted) {
  const auto value = entry.find("value");
  if (value == entry.end()) return std::nullopt;
  if (key == wanted && value->is_number()) return value->get<double>();
  return number_in(*value, wanted);
}

std::optional<std::int64_t> count_of(std::optional<double> number) {
  if (!number || !(*number >= 0) || *number > kLargestWhole) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// A step's number, which stands in the entry's metadata or value under one of some names.
std::optional<std::int64_t> step_of(const Json& entry) {
  for (const char* place : {"metadata", "value"}) {
    const auto found = entry.find(place);
    if (found == entry.end()) continue;
    for (const char* key : {"step", "iteration", "step_num", "samples_count"}) {
      if (const auto step = count_of(number_in(*found, key))) return step;
    }
  }
  return std::nullopt;
}

void read_entry(const Json& entry, int line, LogContent& content) {
  const auto key_found = entry.find("key");
  if (!entry.is_object() || key_found == entry.end() || !key_found->is_string()) return;
  const std::string key = key_found->get<std::string>();
  if (key == "global_batch_size") {
    if (const auto batch = count_of(value_of(entry, key, "global_batch_size")); batch && *batch > 0)
      content.job.global_batch = *batch;
    return;
  }
  LogRow row;
  row.line = line;
  for (const char* name : {"train_step_timing", "train_step_time"}) {
    if (const auto seconds = value_of(entry, key, name)) row.step_ns = *seconds * 1e9;
  }
  for (const char* name : {"throughput", "imgs_sec", "samples_per_sec"}) {
    if (const auto rate = value_of(entry, key, name)) row.samples_per_s = *rate;
  }
  if (row.step_ns == 0 && row.samples_per_s == 0) return;
  for (const char* name : {"train_loss", "loss", "reduced_train_loss"}) {
    if (const auto loss = value_of(entry, key, name)) row.loss = *loss;
  }
  row.step = step_of(entry).value_or(static_cast<std::int64_t>(content.rows.size()) + 1);
  content.rows.push_back(row);
}

}  // namespace

LogContent read_mlperf(std::string_view text, const std::string& origin) {
  LogContent content;
  each_line(text, [&](std::string_view line, int number) {
    const std::size_t at = line.find(kMark);
    if (at == std::string_view::npos) return;
    const Json entry = Json::parse(line.substr(at + kMark.size()), nullptr, false);
    if (entry.is_discarded() || !entry.is_object())
      throw Error(ErrorCode::kBadInput, fmt::format("{} line {}: what follows :::MLLOG is no JSON object", origin, number), 0, origin);
    read_entry(entry, number, content);
  });
  return content;
}

}  // namespace ddbench::imports
