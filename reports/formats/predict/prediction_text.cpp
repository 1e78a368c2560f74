#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/predict/prediction.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

std::string rate_range(const analyzer::Estimate& rate) {
  return fmt::format("{}–{}", number(rate.interval.low, 4), number(rate.interval.high, 4));
}

std::string gain_in_words(double gain) {
  return fmt::format("{}{}", gain < 0 ? "" : "+", percent_in_words(gain));
}

std::string lines_of(const std::vector<std::string>& lines, const char* lead, const Paint& paint, std::size_t width) {
  std::string text;
  for (const std::string& line : lines) {
    for (const std::string& part : wrapped(lead + visible(line), width - 2)) text += "  " + paint(Tone::kFaint, part) + "\n";
  }
  return text;
}

std::size_t columns_of(const TextStyle& style) {
  return static_cast<std::size_t>(std::max(style.width, 40));
}

}  // namespace

std::string prediction_text(const PredictionReport& report, const TextStyle& style) {
  const Paint paint(style.color);
  std::string text = paint(Tone::kStrong, "Predicted from run " + visible(report.run)) + "\n";
  text += fmt::format("  recorded on {} x {}: {} a step, {} samples/s; a replay of itself is off by {}\n\n",
                      report.recorded.nodes, report.recorded.gpus_per_node, time_in_words(report.recorded_step_ns),
                      number(report.recorded_samples_per_s, 4), gain_in_words(report.replay_ratio - 1));
  Table table({{"nodes x GPUs"}, {"step"}, {"samples/s"}, {"95% CI", Align::kLeft}, {"rate of a GPU"}, {"waits"}});
  for (const analyzer::ReplayPrediction& prediction : report.predictions) {
    const double own = prediction.samples_per_s.value / prediction.shape.gpus();
    const double recorded = report.recorded_samples_per_s / report.recorded.gpus();
    table.add_row({{fmt::format("{} x {}", prediction.shape.nodes, prediction.shape.gpus_per_node)},
                   {time_in_words(prediction.step_ns.value)},
                   {number(prediction.samples_per_s.value, 4), Tone::kStrong},
                   {rate_range(prediction.samples_per_s)},
                   {recorded > 0 ? percent_in_words(own / recorded) : "–"},
                   {percent_in_words(prediction.waited_ns / prediction.step_ns.value)}});
  }
  text += table.render(paint, 2, columns_of(style));
  return text + lines_of(report.assumptions, "", paint, columns_of(style));
}

std::string advice_text(const analyzer::AdviceReport& report, const TextStyle& style) {
  const Paint paint(style.color);
  std::string text = paint(Tone::kStrong, "What to change first in run " + visible(report.run)) + "\n";
  text += fmt::format("  replayed: {} a step, of which ranks wait {} for collectives\n\n",
                      time_in_words(report.step_ns.value), percent_in_words(report.waited_ns / report.step_ns.value));
  if (report.advice.empty()) {
    text += "  no single change gains more than the noise\n";
  } else {
    Table table({{"gain"}, {"95% CI", Align::kLeft}, {"step"}, {"change", Align::kLeft, true}});
    for (const analyzer::Advice& advice : report.advice) {
      table.add_row({{gain_in_words(advice.gain.value), Tone::kStrong},
                     {gain_in_words(advice.gain.interval.low) + " to " + gain_in_words(advice.gain.interval.high)},
                     {time_in_words(advice.step_ns)},
                     {visible(advice.change)}});
    }
    text += table.render(paint, 2, columns_of(style));
  }
  text += lines_of(report.no_gain, "no gain: ", paint, columns_of(style));
  text += lines_of(report.not_known, "not known: ", paint, columns_of(style));
  return text + lines_of(report.notes, "", paint, columns_of(style));
}

}  // namespace ddbench::reports
