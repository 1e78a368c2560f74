#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/predict/prediction.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/tables/next_steps.h"
#include "reports/tables/prediction_content.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

std::string lines_of(const std::vector<std::string>& lines, const char* lead, const Paint& paint, std::size_t width) {
  std::string text;
  for (const std::string& line : lines) {
    for (const std::string& part : wrapped(lead + visible(line), width - 2)) text += "  " + paint(Tone::kFaint, part) + "\n";
  }
  return text;
}

LineWidth columns_of(const TextStyle& style) {
  return line_width(style, 40);
}

}  // namespace

std::string prediction_text(const PredictionReport& report, const TextStyle& style) {
  const Paint paint(style.color);
  std::string text = paint(Tone::kStrong, "Predicted from run " + visible(report.run)) + "\n";
  text += fmt::format("  recorded on {} x {}: {} a step, {}; a replay of itself is off by {}\n",
                      report.recorded.nodes, report.recorded.gpus_per_node, time_in_words(report.recorded_step_ns),
                      rate_in_words(report.recorded_samples_per_s, report.counts_samples, report.recorded.gpus()) +
                          (report.counts_samples ? " samples/s" : ""),
                      gain_in_words(report.replay_ratio - 1));
  if (report.modelled_ratio)
    text += fmt::format("  with the mean transfer of each collective, as where they are modelled, by {}\n",
                        gain_in_words(*report.modelled_ratio - 1));
  text += "\n";
  text += data_table_text(prediction_data(report), paint, columns_of(style));
  return text + lines_of(report.assumptions, "", paint, columns_of(style));
}

std::string advice_text(const analyzer::AdviceReport& report, const Measured<analyzer::CriticalPath>& path,
                        const TextStyle& style) {
  const Paint paint(style.color);
  DataTable table = advice_data(report);
  table.caption += " in run " + report.run;
  std::string text = data_table_text(table, paint, columns_of(style));
  text += lines_of(advice_remarks(report), "", paint, columns_of(style));
  if (!path) return text + lines_of({"critical path: " + path.reason()}, "", paint, columns_of(style));
  constexpr std::size_t kMost = 8;  // rows of ranks, of collectives and of operators
  text += "\n" + data_table_text(path_data(*path, kMost), paint, columns_of(style));
  return text + lines_of(path->notes, "", paint, columns_of(style));
}

std::string advice_section(const analyzer::AdviceReport& report, const std::string& db, const TextStyle& style) {
  const Paint paint(style.color);
  return "\n" + data_table_text(advice_data(report, 3), paint, columns_of(style)) +
         lines_of({"all changes, and what they take for granted: " + in_store("ddbench advise " + report.run, db)}, "", paint, columns_of(style));
}

}  // namespace ddbench::reports
