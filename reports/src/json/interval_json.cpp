#include "interval_json.h"

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

Json ratio_json(const Measured<analyzer::RunRatio>& ratio, const std::string& path, MissingReasons& missing) {
  if (ratio) return value_json(ratio->value, ratio->interval, path, missing);
  missing.null(path, ratio.reason());
  return without_interval();
}

}  // namespace ddbench::reports
