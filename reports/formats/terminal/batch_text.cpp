#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/terminal/batch.h"
#include "reports/formats/terminal/intervals_text.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::BatchCurve;
using analyzer::BatchRow;

std::string duration(const Measured<double>& seconds) {
  return seconds ? time_in_words(*seconds * 1e9) : std::string("–");
}

std::string noise(const BatchRow& row) {
  if (!row.noise) return "–";
  if (!row.noise->samples && row.noise->point() <= 0) return "–";
  if (!row.noise->samples) {
    return row.noise->at_least > 0
               ? fmt::format("{} ({} or more)", number(row.noise->point()), number(row.noise->at_least))
               : fmt::format("{} (not bounded)", number(row.noise->point()));
  }
  const analyzer::Estimate& samples = *row.noise->samples;
  return fmt::format("{} ({} to {})", number(samples.value), number(samples.interval.low),
                     number(samples.interval.high));
}

std::string rows_section(const BatchCurve& curve, const Paint& paint, std::size_t width) {
  Table table({{"GPUs"},
               {"batch"},
               {"lr"},
               {"runs"},
               {"steps"},
               {"samples"},
               {"step time"},
               {"time"},
               {"GPU h"},
               {"USD"},
               {"return"},
               {"prov.", Align::kLeft}});
  std::uint32_t provenances = 0;
  for (const BatchRow& row : curve.rows) {
    const std::size_t runs = row.run_steps.size() + static_cast<std::size_t>(row.missed);
    table.add_row(
        {{std::to_string(row.world_size)},
         {count_in_words(row.global_batch)},
         {number(row.run_case.lr)},
         {row.missed == 0 ? std::to_string(runs) : fmt::format("{}/{}", row.run_steps.size(), runs)},
         {number_or_dash(row.steps, 4)},
         {number_or_dash(row.samples, 4)},
         {row.step_time_ns ? time_in_words(*row.step_time_ns) : "–"},
         {duration(row.time_s)},
         {number_or_dash(row.gpu_hours)},
         {row.usd ? fmt::format("{:.2f}", *row.usd) : "–"},
         {row.return_of_added ? percent_in_words(*row.return_of_added) : "–"},
         {provenance_in_letters(row.provenance)}});
    provenances |= row.provenance.bits();
  }
  const std::string legend =
      "steps and times to the target loss · return: speedup gained by added GPUs / ideal speedup, at fixed "
      "batch per GPU · " +
      provenance_legend(ProvenanceSet::from_bits(provenances));
  return table.render(paint, 0, width) + paint(Tone::kFaint, fitted(legend, width)) + "\n";
}

std::string noise_section(const BatchCurve& curve, const Paint& paint, std::size_t width) {
  Table table({{"GPUs"}, {"batch"}, {"noise scale"}, {"steps"}});
  bool any = false;
  for (const BatchRow& row : curve.rows) {
    if (!row.noise) continue;
    any = true;
    table.add_row({{std::to_string(row.world_size)},
                   {count_in_words(row.global_batch)},
                   {noise(row)},
                   {std::to_string(row.noise->steps)}});
  }
  if (!any) return {};
  return "\n" + paint(Tone::kStrong, "Gradient noise scale in samples (95% CI): about the critical batch") +
         "\n" + table.render(paint, 2, width);
}

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
                number(*curve.pays_up_to, 6))
          : fmt::format("  more GPUs: {}\n", visible(curve.pays_up_to.reason()));
  return text;
}

}  // namespace

std::string batch_text(const analyzer::BatchAnalysis& analysis, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  const std::string title = analysis.target_loss > 0
                                ? fmt::format("Training to a loss of {}", number(analysis.target_loss, 4))
                                : std::string("Gradient noise");
  std::string text = paint(Tone::kStrong, title) + "\n";
  std::vector<std::string> notes = analysis.notes;
  for (const BatchCurve& curve : analysis.curves) {
    text += "\n";
    if (!curve.variant.empty()) text += paint(Tone::kStrong, fitted(visible(curve.variant), width)) + "\n";
    text += rows_section(curve, paint, width);
    if (analysis.target_loss > 0) text += critical_section(curve, paint);
    text += noise_section(curve, paint, width);
    notes.insert(notes.end(), curve.notes.begin(), curve.notes.end());
    if (curve.critical) notes.insert(notes.end(), curve.critical->notes.begin(), curve.critical->notes.end());
  }
  if (const std::string section = notes_section(notes, paint, width); !section.empty())
    text += "\n" + section;
  return text;
}

}  // namespace ddbench::reports
