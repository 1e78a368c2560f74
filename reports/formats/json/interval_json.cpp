#include "reports/formats/json/interval_json.h"

namespace ddbench::reports {
namespace {

void put_interval(const ConfidenceInterval& interval, Json& json) {
  json["ci_low"] = interval.low;
  json["ci_high"] = interval.high;
  json["ci_level"] = interval.level;
  json["method"] = interval.method;
}

Json without_interval() {
  return {{"value", nullptr},
          {"ci_low", nullptr},
          {"ci_high", nullptr},
          {"ci_level", nullptr},
          {"method", nullptr}};
}

}  // namespace

Json value_json(double value, const Measured<ConfidenceInterval>& interval, const std::string& path,
                MissingReasons& missing) {
  Json json = without_interval();
  json["value"] = value;
  if (interval) {
    put_interval(*interval, json);
  } else {
    missing.null(path + ".ci", interval.reason());
  }
  return json;
}

Json metric_json(const Metric& metric) {
  Json json = {{"name", metric.name}, {"unit", metric.unit}};
  json.update(without_interval());
  json["value"] = metric.value;
  if (metric.interval) put_interval(*metric.interval, json);
  return json;
}

Json quantity_json(const Measured<analyzer::Quantity>& quantity, const std::string& path,
                   MissingReasons& missing) {
  if (quantity) return value_json(quantity->value, quantity->interval, path, missing);
  missing.null(path, quantity.reason());
  return without_interval();
}

Json interval_json(const Measured<ConfidenceInterval>& interval, const std::string& path,
                   MissingReasons& missing) {
  if (!interval) return missing.null(path, interval.reason());
  return {{"low", interval->low},
          {"high", interval->high},
          {"level", interval->level},
          {"method", interval->method}};
}

Json loss_intervals_json(const Measured<analyzer::LossIntervals>& intervals, const std::string& path,
                         MissingReasons& missing) {
  if (!intervals) return missing.null(path, intervals.reason());
  Json json = {{"level", intervals->lost.level}, {"method", intervals->lost.method}};
  for (int i = 0; i < store::kStepPartCount; ++i) {
    const ConfidenceInterval& interval = intervals->parts[static_cast<std::size_t>(i)];
    json[std::string(store::to_string(static_cast<store::StepPart>(i)))] = {interval.low, interval.high};
  }
  json["lost"] = {intervals->lost.low, intervals->lost.high};
  return json;
}

}  // namespace ddbench::reports
