#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/terminal/batch.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::BatchCurve;

std::string with_interval(const Metric& metric) {
  std::string text = number(metric.value, 4);
  if (metric.interval)
    text += fmt::format(" ({} to {})", number(metric.interval->low, 4), number(metric.interval->high, 4));
  return text;
}

std::string critical_section(const BatchCurve& curve, const Paint& paint) {
  std::string text = "\n" + paint(Tone::kStrong, "Critical batch: steps = S_min (1 + B_crit/B)") + "\n";
  if (!curve.critical) return text + "  not known: " + visible(curve.critical.reason()) + "\n";
  const analyzer::CriticalBatch& fit = *curve.critical;
  text +=
      fmt::format("  S_min {} steps · E_min {} samples · rms error {:.1f}%\n",
                  with_interval(fit.fewest_steps), with_interval(fit.fewest_samples), 100 * fit.rms_error);
  if (fit.batch) {
    text += fmt::format(
        "  B_crit {} samples ({} to {}, 95%): twice the fewest steps and twice the fewest samples\n",
        number(fit.batch->value, 4), number(fit.batch->interval.low, 4), number(fit.batch->interval.high, 4));
  }
  text +=
      curve.pays_up_to
          ? fmt::format(
                "  more GPUs pay up to a global batch of {}: added ones return half of their share or more\n",
                number(*curve.pays_up_to, 1))
          : fmt::format("  more GPUs: {}\n", visible(curve.pays_up_to.reason()));
  return text;
}

}  // namespace

std::string batch_text(const analyzer::BatchAnalysis& analysis, const TextStyle& style, const std::string& sweep) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  const std::string title = analysis.target_loss > 0
                                ? fmt::format("Training to a loss of {}", number(analysis.target_loss, 4))
                                : std::string("Gradient noise");
  std::string text;
  for (const std::string& line : joined({title, sweep.empty() ? "" : visible(sweep_in_words(sweep))}, " · ", width))
    text += paint(Tone::kStrong, fitted(line, width)) + "\n";
  std::vector<std::string> notes = analysis.notes;
  for (const BatchCurve& curve : analysis.curves) {
    text += "\n";
    if (!curve.variant.empty()) text += paint(Tone::kStrong, fitted(visible(curve.variant), width)) + "\n";
    text += data_table_text(batch_data(curve), paint, width, 0);
    if (analysis.target_loss > 0) text += critical_section(curve, paint);
    if (const DataTable noise = noise_data(curve); !noise.rows.empty()) text += "\n" + data_table_text(noise, paint, width);
    notes.insert(notes.end(), curve.notes.begin(), curve.notes.end());
    if (curve.critical) notes.insert(notes.end(), curve.critical->notes.begin(), curve.critical->notes.end());
  }
  if (const std::string section = notes_section(notes, paint, width); !section.empty())
    text += "\n" + section;
  return text;
}

}  // namespace ddbench::reports
