#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/analysis/columns.h"

namespace ddbench::reports {
namespace {

using analyzer::CurveRow;
using analyzer::ScalingCurve;

struct NamedRow {
  const std::string* label;
  const CurveRow* row;
};

DataCell serial_cell(const CurveRow& row) {
  if (!row.serial_fraction) return missing_cell(row.serial_fraction.reason());
  const Metric& serial = *row.serial_fraction;
  DataCell cell = value_cell(serial.value, number(serial.value));
  if (!serial.interval) return cell;
  cell.text += fmt::format(" ({} to {})", number(serial.interval->low), number(serial.interval->high));
  cell.why = serial.interval->method;
  return cell;
}

DataCell efficiency_with_bar(const CurveRow& row, bool bar) {
  DataCell cell = efficiency_cell(row.efficiency);
  if (bar) cell.bar = CellBar{row.efficiency, cell.tone};
  return cell;
}

std::vector<NamedRow> rows_of(std::span<const NamedCurve> curves) {
  std::vector<NamedRow> rows;
  for (const NamedCurve& named : curves) {
    for (const CurveRow& row : named.curve->rows) rows.push_back({&named.label, &row});
  }
  return rows;
}

/// Each size once, in the order of the columns.
TableOf<NamedRow> columns_of(const std::vector<NamedRow>& rows, bool labelled) {
  const auto known = [&](auto member) { return any_row(rows, [&](const NamedRow& each) { return bool(each.row->*member); }); };
  const auto used = [&](auto share) { return any_row(rows, [&](const NamedRow& each) { return bool(each.row->utilisation.*share); }); };
  const bool intervals = known(&CurveRow::efficiency_interval);
  TableOf<NamedRow> table;
  table.add(labelled, {"curve"}, [](const auto& each) { return text_cell(*each.label); });
  table.add(true, {"GPUs", true}, [](const auto& each) { return count_cell(each.row->world_size); });
  table.add(true, {"nodes", true}, [](const auto& each) { return nodes_cell(each.row->run_case); });
  table.add(true, {"efficiency", true}, [=](const auto& each) { return efficiency_with_bar(*each.row, !intervals); });
  table.add(intervals, {"95% CI"}, [](const auto& each) { return percent_interval_cell(each.row->efficiency_interval); });
  table.add(true, {"speedup", true}, [](const auto& each) { return half_width_cell(each.row->speedup, each.row->speedup_interval); });
  table.add(true, {"step time", true}, [](const auto& each) { return step_time_cell(each.row->step_time_ns); });
  table.add(any_row(rows, [](const NamedRow& each) { return each.row->step_time_ns && each.row->step_time_ns->interval; }),
            {"95% CI", true, "half of the interval of the step time"},
            [](const auto& each) { return step_time_half_width_cell(each.row->step_time_ns); });
  table.add(true, {"samples/s", true},
            [](const auto& each) { return rate_cell(each.row->samples_per_s, each.row->without_samples, each.row->world_size); });
  table.add(known(&CurveRow::exposed_share), {"exposed", true, "communication not hidden behind compute, share of the step time"},
            [](const auto& each) { return percent_cell(each.row->exposed_share); });
  table.add(true, {.title = "provenance", .brief = "prov."}, [](const auto& each) { return provenance_cell(each.row->provenance); });
  table.add(known(&CurveRow::serial_fraction), {"serial fraction", false, "Karp-Flatt"}, [](const auto& each) { return serial_cell(*each.row); });
  table.add(used(&analyzer::Utilisation::mfu), {"MFU", true}, [](const auto& each) { return percent_cell(each.row->utilisation.mfu); });
  table.add(used(&analyzer::Utilisation::hfu), {"HFU", true}, [](const auto& each) { return percent_cell(each.row->utilisation.hfu); });
  table.add(known(&CurveRow::measured_share), {"time measured", true, "share of the wall time of all runs that went into measured steps"},
            [](const auto& each) { return percent_cell(each.row->measured_share); });
  table.add(true, {"runs", true}, [](const auto& each) { return count_cell(static_cast<std::int64_t>(each.row->runs.size())); });
  return table;
}

}  // namespace

DataTable curve_data(std::span<const NamedCurve> curves) {
  const std::vector<NamedRow> rows = rows_of(curves);
  DataTable data = columns_of(rows, curves.size() > 1).of(rows);
  std::uint32_t provenances = 0;
  for (const NamedRow& each : rows) provenances |= each.row->provenance.bits();
  data.legend.push_back(provenance_legend(ProvenanceSet::from_bits(provenances)));
  const bool intervals = any_row(rows, [](const NamedRow& each) { return bool(each.row->efficiency_interval); });
  if (!rows.empty() && !intervals && !rows.back().row->is_baseline)
    data.notes.push_back("no interval of the efficiency: " + rows.back().row->efficiency_interval.reason());
  return data;
}

DataTable law_data(const analyzer::ModelChoice& law) {
  TableOf<Metric> table;
  table.add(true, {"parameter"}, [](const Metric& parameter) { return text_cell(parameter.name); });
  table.add(true, {"value", true}, [](const Metric& parameter) { return value_cell(parameter.value, number(parameter.value, 4)); });
  table.add(true, {"95% CI"}, [](const Metric& parameter) {
    return parameter.interval ? interval_cell(*parameter.interval, "1") : missing_cell("no interval");
  });
  DataTable data = std::move(table).of(law.best.parameters);
  data.caption = fmt::format("Law: {}   {}", to_string(law.best.model), formula(law.best.model));
  std::string tried;
  for (const analyzer::ModelCandidate& candidate : law.candidates) {
    const std::string error = candidate.cross_validation_error ? percent_in_words(*candidate.cross_validation_error) : "–";
    tried += fmt::format("{}{} {}", tried.empty() ? "" : " · ", to_string(candidate.model), error);
  }
  data.notes = {"error at left-out sizes: " + tried};
  return data;
}

DataTable predictions_data(const ScalingCurve& curve) {
  using analyzer::Prediction;
  if (curve.predictions.empty()) return {};
  const bool counts_samples = curve.counts_samples();
  TableOf<Prediction> table;
  table.add(true, {"GPUs", true}, [](const Prediction& each) { return value_cell(each.n, fmt::format("{:g}", each.n)); });
  table.add(true, {"samples/s", true},
            [=](const Prediction& each) { return value_cell(counts_samples ? each.throughput : each.throughput / each.n, rate_in_words(each.throughput, counts_samples, each.n)); });
  table.add(true, {"95% CI"}, [=](const Prediction& each) {
    if (!each.interval) return missing_cell(each.interval.reason());
    ConfidenceInterval interval = each.interval->interval;
    interval.low /= counts_samples ? 1 : each.n;
    interval.high /= counts_samples ? 1 : each.n;
    return interval_cell(interval, "1");
  });
  table.add(true, {"efficiency", true}, [&curve](const Prediction& each) {
    return percent_cell(curve.speedup_of(each.throughput) * curve.baseline_gpus / each.n);
  });
  table.add(any_row(curve.predictions, [](const Prediction& each) { return each.extrapolated; }), {"remark"}, [](const Prediction& each) {
    return text_cell(each.extrapolated ? "EXTRAPOLATED beyond twice what was measured" : "", CellTone::kWarning);
  });
  DataTable data = std::move(table).of(curve.predictions);
  data.caption = "Predicted";
  std::string averaged;
  for (const analyzer::SizeModel& model : curve.predictions.back().models)
    averaged += fmt::format("{}{} {}", averaged.empty() ? "" : " · ", model.name, percent_in_words(model.weight));
  if (!averaged.empty()) data.notes = {"averaged by what they predicted: " + averaged};
  return data;
}

}  // namespace ddbench::reports
