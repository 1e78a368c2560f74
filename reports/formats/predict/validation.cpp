#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/statistics/statistics.h"
#include "core/text/quantity.h"
#include "reports/formats/json/json.h"
#include "reports/formats/json/json_values.h"
#include "reports/formats/predict/prediction.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

double error_of(const analyzer::ValidatedSize& size) {
  return size.predicted->throughput / size.samples_per_s - 1;
}

bool holds(const analyzer::ValidatedSize& size) {
  const auto& interval = size.predicted->interval;
  return interval && interval->interval.low <= size.samples_per_s && size.samples_per_s <= interval->interval.high;
}

}  // namespace

std::string validation_text(const std::vector<analyzer::ValidatedSize>& sizes, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 40));
  Table table({{"nodes x GPUs"}, {"measured"}, {"predicted"}, {"95% CI", Align::kLeft}, {"error"}, {"", Align::kLeft, true}});
  std::vector<double> errors;
  std::size_t held = 0;
  for (const analyzer::ValidatedSize& size : sizes) {
    const std::string shape = fmt::format("{} x {}", size.shape.nodes, size.shape.gpus_per_node);
    if (!size.predicted) {
      table.add_row({{shape}, {number(size.samples_per_s, 4)}, {"–"}, {"–"}, {"–"}, {visible(size.predicted.reason())}});
      continue;
    }
    errors.push_back(std::abs(error_of(size)));
    held += holds(size);
    const auto& interval = size.predicted->interval;
    table.add_row({{shape},
                   {number(size.samples_per_s, 4)},
                   {number(size.predicted->throughput, 4)},
                   {interval ? fmt::format("{}–{}", number(interval->interval.low, 4), number(interval->interval.high, 4)) : "–"},
                   {percent_in_words(error_of(size))},
                   {holds(size) ? "" : "outside of the interval", Tone::kWarning}});
  }
  std::string text = paint(Tone::kStrong, "Each size, predicted from the smaller ones (samples/s)") + "\n" + table.render(paint, 2, width);
  if (errors.empty()) return text;
  return text + fmt::format("  median |error| {}, worst {}; {} of {} intervals hold what was measured\n",
                            percent_in_words(analyzer::median(errors)),
                            percent_in_words(*std::max_element(errors.begin(), errors.end())), held, errors.size());
}

std::string validation_json(const std::vector<analyzer::ValidatedSize>& sizes) {
  Json json = {{"schema_version", kJsonSchemaVersion}, {"sizes", Json::array()}};
  for (const analyzer::ValidatedSize& size : sizes) {
    Json entry = {{"nodes", size.shape.nodes},
                  {"gpus_per_node", size.shape.gpus_per_node},
                  {"samples_per_s", size.samples_per_s},
                  {"predicted", nullptr},
                  {"ci_low", nullptr},
                  {"ci_high", nullptr},
                  {"error", nullptr},
                  {"missing", size.predicted.reason()}};
    if (size.predicted) {
      entry["predicted"] = size.predicted->throughput;
      entry["error"] = error_of(size);
      if (const auto& interval = size.predicted->interval) {
        entry["ci_low"] = interval->interval.low;
        entry["ci_high"] = interval->interval.high;
      }
    }
    json["sizes"].push_back(std::move(entry));
  }
  return dumped(json);
}

}  // namespace ddbench::reports
