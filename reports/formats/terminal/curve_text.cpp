#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/text/quantity.h"
#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/intervals_text.h"
#include "reports/formats/terminal/layout/bars.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/lost_text.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::CurveRow;
using analyzer::ScalingCurve;

constexpr std::size_t kMostStragglers = 5;

Tone tone_of(double efficiency) {
  return efficiency < 0.5 ? Tone::kBad : efficiency < 0.8 ? Tone::kWarning : Tone::kGood;
}

template <typename T>
bool is_known(const ScalingCurve& curve, Measured<T> CurveRow::*member) {
  return std::any_of(curve.rows.begin(), curve.rows.end(),
                     [&](const CurveRow& row) { return bool(row.*member); });
}

std::string share(const Measured<double>& value) {
  return value ? percent_in_words(*value) : "–";
}

/// Relative to the step time, half the width.
std::string spread_of_step(const CurveRow& row) {
  if (!row.step_time_interval || row.step_time_ns <= 0) return "–";
  return fmt::format("±{:.1f}%",
                     50 * (row.step_time_interval->high - row.step_time_interval->low) / row.step_time_ns);
}

std::string serial_of(const CurveRow& row) {
  if (!row.serial_fraction) return "–";
  const Metric& serial = *row.serial_fraction;
  return number(serial.value) + (serial.interval ? " (" + interval_in_words(*serial.interval) + ")" : "");
}

struct CurveColumn {
  TableColumn title;
  std::function<TableCell(const CurveRow&)> cell;
};

/// Columns in which nothing is known are left out.
std::vector<CurveColumn> columns_of(const ScalingCurve& curve) {
  std::vector<CurveColumn> columns;
  const auto add = [&](bool wanted, TableColumn title, std::function<TableCell(const CurveRow&)> cell) {
    if (wanted) columns.push_back({std::move(title), std::move(cell)});
  };
  add(true, {"GPUs"}, [](const CurveRow& row) { return TableCell{std::to_string(row.world_size)}; });
  add(true, {"nodes"}, [](const CurveRow& row) { return TableCell{std::to_string(row.run_case.nodes)}; });
  add(true, {"efficiency"}, [](const CurveRow& row) {
    return TableCell{percent_in_words(row.efficiency), tone_of(row.efficiency)};
  });
  const bool has_interval = is_known(curve, &CurveRow::efficiency_interval);
  add(!has_interval, {"", Align::kLeft}, [](const CurveRow& row) {
    return TableCell{bar(row.efficiency, kBarColumns), tone_of(row.efficiency)};
  });
  add(has_interval, {"95% CI", Align::kLeft}, [](const CurveRow& row) {
    return TableCell{row.efficiency_interval ? percent_interval_in_words(*row.efficiency_interval) : "–"};
  });
  add(true, {"speedup"},
      [](const CurveRow& row) { return TableCell{with_half_width(row.speedup, row.speedup_interval)}; });
  add(true, {"step time"}, [](const CurveRow& row) { return TableCell{time_in_words(row.step_time_ns)}; });
  add(is_known(curve, &CurveRow::step_time_interval), {"95% CI"},
      [](const CurveRow& row) { return TableCell{spread_of_step(row)}; });
  add(true, {"samples/s"}, [](const CurveRow& row) { return TableCell{rate_in_words(row.samples_per_s, row.without_samples.empty(), row.world_size)}; });
  add(is_known(curve, &CurveRow::exposed_share), {"exposed"},
      [](const CurveRow& row) { return TableCell{share(row.exposed_share)}; });
  add(is_known(curve, &CurveRow::serial_fraction), {"serial fraction", Align::kLeft},
      [](const CurveRow& row) { return TableCell{serial_of(row)}; });
  const auto is_used = [&curve](Measured<double> analyzer::Utilisation::*share) {
    return std::any_of(curve.rows.begin(), curve.rows.end(),
                       [&](const CurveRow& row) { return bool(row.utilisation.*share); });
  };
  add(is_used(&analyzer::Utilisation::mfu), {"MFU"},
      [](const CurveRow& row) { return TableCell{share(row.utilisation.mfu)}; });
  add(is_used(&analyzer::Utilisation::hfu), {"HFU"},
      [](const CurveRow& row) { return TableCell{share(row.utilisation.hfu)}; });
  add(is_known(curve, &CurveRow::goodput), {"goodput"},
      [](const CurveRow& row) { return TableCell{share(row.goodput)}; });
  add(true, {"runs"}, [](const CurveRow& row) { return TableCell{std::to_string(row.runs.size())}; });
  add(true, {"prov.", Align::kLeft},
      [](const CurveRow& row) { return TableCell{provenance_in_letters(row.provenance)}; });
  return columns;
}

std::string rows_section(const ScalingCurve& curve, const Paint& paint, std::size_t width) {
  const std::vector<CurveColumn> columns = columns_of(curve);
  std::vector<TableColumn> titles;
  for (const CurveColumn& column : columns) titles.push_back(column.title);
  Table table(std::move(titles));
  std::uint32_t provenances = 0;
  for (const CurveRow& row : curve.rows) {
    std::vector<TableCell> cells;
    for (const CurveColumn& column : columns) cells.push_back(column.cell(row));
    table.add_row(std::move(cells));
    provenances |= row.provenance.bits();
  }
  const std::string legend = provenance_legend(ProvenanceSet::from_bits(provenances));
  std::string text = table.render(paint, 0, width) + paint(Tone::kFaint, fitted(legend, width)) + "\n";
  const CurveRow& largest = curve.rows.back();
  if (!is_known(curve, &CurveRow::efficiency_interval) && !largest.is_baseline) {
    const std::string why = "no interval of the efficiency: " + largest.efficiency_interval.reason();
    text += paint(Tone::kFaint, fitted(why, width)) + "\n";
  }
  return text;
}

std::string law_section(const ScalingCurve& curve, const Paint& paint, std::size_t width) {
  if (!curve.model) {
    std::string text = "\n" + paint(Tone::kStrong, "Law") + "\n";
    for (const std::string& line : wrapped("none: " + visible(curve.model.reason()), width - 2))
      text += "  " + line + "\n";
    return text;
  }
  const analyzer::ModelChoice& choice = *curve.model;
  std::string text = "\n" +
                     paint(Tone::kStrong, fmt::format("Law: {}   {}", to_string(choice.best.model),
                                                      formula(choice.best.model))) +
                     "\n";
  Table parameters({{"", Align::kLeft}, {""}, {"", Align::kLeft}});
  for (const Metric& parameter : choice.best.parameters) {
    parameters.add_row({{parameter.name},
                        {number(parameter.value, 4)},
                        {parameter.interval ? interval_in_words(*parameter.interval) + " (95%)" : ""}});
  }
  text += parameters.render(paint, 2, width);
  std::string tried;
  for (const analyzer::ModelCandidate& candidate : choice.candidates) {
    const std::string error =
        candidate.cross_validation_error ? percent_in_words(*candidate.cross_validation_error) : "–";
    tried += fmt::format("{}{} {}", tried.empty() ? "" : " · ", to_string(candidate.model), error);
  }
  text += "  " + paint(Tone::kFaint, fitted("error at left-out sizes: " + tried, width - 2)) + "\n";
  return text;
}

std::string predictions_section(const ScalingCurve& curve, const Paint& paint, std::size_t width) {
  if (curve.predictions.empty()) return {};
  const bool counts_samples = curve.counts_samples();
  const auto of_job = [&](ConfidenceInterval interval, double gpus) {
    if (counts_samples) return interval;
    interval.low /= gpus;
    interval.high /= gpus;
    return interval;
  };
  Table table({{"GPUs"}, {"samples/s"}, {"95% CI", Align::kLeft}, {"efficiency"}, {"", Align::kLeft}});
  for (const analyzer::Prediction& prediction : curve.predictions) {
    const double efficiency = curve.speedup_of(prediction.throughput) * curve.baseline_gpus / prediction.n;
    table.add_row(
        {{fmt::format("{:g}", prediction.n)},
         {rate_in_words(prediction.throughput, counts_samples, prediction.n)},
         {prediction.interval ? interval_in_words(of_job(prediction.interval->interval, prediction.n)) : "–"},
         {percent_in_words(efficiency)},
         {prediction.extrapolated ? "EXTRAPOLATED beyond twice what was measured" : "", Tone::kWarning}});
  }
  std::string averaged;
  for (const analyzer::SizeModel& model : curve.predictions.back().models)
    averaged += fmt::format("{}{} {}", averaged.empty() ? "" : " · ", model.name, percent_in_words(model.weight));
  if (!averaged.empty()) averaged = "  " + paint(Tone::kFaint, fitted("averaged by what they predicted: " + averaged, width - 2)) + "\n";
  return "\n" + paint(Tone::kStrong, "Predicted") + "\n" + table.render(paint, 2, width) + averaged;
}

std::string stragglers_section(const ScalingCurve& curve, const Paint& paint, std::size_t width) {
  const CurveRow& largest = curve.rows.back();
  std::string text =
      "\n" + paint(Tone::kStrong, fmt::format("Who arrives last, on {}", gpus_in_words(largest.world_size))) +
      "\n";
  if (!curve.stragglers)
    return text + "  not known: " + fitted(visible(curve.stragglers.reason()), width - 14) + "\n";
  const analyzer::StragglerReport& report = *curve.stragglers;
  Table table({{"", Align::kLeft},
               {"host", Align::kLeft, true},
               {"last at"},
               {"late by"},
               {"others wait, a step"},
               {"of the step"}});
  const auto add = [&](const std::string& name, const analyzer::Straggler& straggler) {
    table.add_row(
        {{name},
         {visible(straggler.host)},
         {percent_in_words(straggler.share_last)},
         {time_in_words(straggler.late_ns)},
         {time_in_words(straggler.cost_ns_per_step)},
         {report.mean_step_ns > 0 ? percent_in_words(straggler.cost_ns_per_step / report.mean_step_ns)
                                  : "–"}});
  };
  for (const analyzer::Straggler& node : report.nodes) add(fmt::format("node {}", node.node), node);
  for (std::size_t i = 0; i < std::min(report.ranks.size(), kMostStragglers); ++i) {
    add(fmt::format("rank {}", report.ranks[i].rank), report.ranks[i]);
  }
  text += table.render(paint, 2, width);
  const std::string basis = fmt::format("{} collectives in {} steps of run {}",
                                        count_in_words(static_cast<std::int64_t>(report.collectives)),
                                        count_in_words(report.steps), visible(report.run));
  return text + "  " + paint(Tone::kFaint, fitted(basis, width - 2)) + "\n";
}

}  // namespace

std::string curve_text(const ScalingCurve& curve, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  const std::string title = fmt::format(
      "{} scaling against {}", curve.mode == ScalingMode::kWeak ? "Weak" : "Strong", visible(curve.baseline));
  std::string text;
  for (const std::string& line : wrapped(title, width)) text += paint(Tone::kStrong, line) + "\n";
  text += "\n" + rows_section(curve, paint, width) + lost_by_size_text(curve, paint, width) +
          law_section(curve, paint, width) + predictions_section(curve, paint, width) +
          stragglers_section(curve, paint, width);
  std::vector<std::string> notes = curve.notes;
  if (curve.model) notes.insert(notes.end(), curve.model->notes.begin(), curve.model->notes.end());
  if (curve.stragglers)
    notes.insert(notes.end(), curve.stragglers->notes.begin(), curve.stragglers->notes.end());
  if (const std::string section = notes_section(notes, paint, width); !section.empty())
    text += "\n" + section;
  return text;
}

}  // namespace ddbench::reports
