#include <fmt/format.h>

#include "core/text/quantity.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/tables/analysis/columns.h"

namespace ddbench::reports {
namespace {

using analyzer::BatchCurve;
using analyzer::BatchRow;

DataCell runs_cell(const BatchRow& row) {
  const std::size_t runs = row.run_steps.size() + static_cast<std::size_t>(row.missed);
  DataCell cell = count_cell(static_cast<std::int64_t>(runs));
  if (row.missed == 0) return cell;
  cell.text = fmt::format("{}/{}", row.run_steps.size(), runs);
  cell.why = fmt::format("{} did not reach the target", row.missed);
  return cell;
}

DataCell noise_cell(const BatchRow& row) {
  if (!row.noise) return missing_cell(row.noise.reason());
  const analyzer::NoiseScale& noise = *row.noise;
  if (noise.samples) {
    const ConfidenceInterval& interval = noise.samples->interval;
    DataCell cell = value_cell(noise.samples->value, fmt::format("{} ({} to {})", number(noise.samples->value), number(interval.low), number(interval.high)));
    cell.why = interval.method;
    return cell;
  }
  if (noise.point() <= 0) return missing_cell(noise.samples.reason());
  DataCell cell = value_cell(noise.point(), noise.at_least > 0 ? fmt::format("{} ({} or more)", number(noise.point()), number(noise.at_least))
                                                               : fmt::format("{} (not bounded)", number(noise.point())));
  cell.why = noise.samples.reason();
  return cell;
}

}  // namespace

DataTable batch_data(const BatchCurve& curve) {
  TableOf<BatchRow> table;
  table.add(true, {"GPUs", true}, [](const BatchRow& row) { return count_cell(row.world_size); });
  table.add(true, {"batch", true, "of all GPUs"}, [](const BatchRow& row) { return count_cell(row.global_batch); });
  table.add(true, {.title = "learning rate", .numeric = true, .meaning = "applied, after the warm-up", .brief = "lr"},
            [](const BatchRow& row) {
              return row.applied_rate ? value_cell(*row.applied_rate, number(*row.applied_rate)) : missing_cell(row.applied_rate.reason());
            });
  table.add(any_row(curve.rows, [](const BatchRow& row) { return row.run_case.lr_rule != LearningRateRule::kNone; }),
            {.title = "base rate", .numeric = true, .meaning = "--lr, before --lr-rule", .brief = "base"},
            [](const BatchRow& row) { return value_cell(row.run_case.lr, number(row.run_case.lr)); });
  table.add(true, {"runs", true}, runs_cell);
  table.add(true, {"steps", true, "to the target loss, mean over runs"}, [](const BatchRow& row) { return quantity_cell(row.steps, "1", 4); });
  table.add(true, {"samples", true}, [](const BatchRow& row) { return quantity_cell(row.samples, "1", 4); });
  table.add(true, {"step time", true}, [](const BatchRow& row) { return quantity_cell(row.step_time_ns, "ns"); });
  table.add(true, {"time", true}, [](const BatchRow& row) { return row.time_s ? time_cell(*row.time_s * 1e9) : missing_cell(row.time_s.reason()); });
  table.add(true, {.title = "GPU hours", .numeric = true, .brief = "GPU h"}, [](const BatchRow& row) { return quantity_cell(row.gpu_hours, "1"); });
  table.add(true, {"USD", true}, [](const BatchRow& row) { return usd_cell(row.usd); });
  table.add(true, {"return", true, "speedup gained by added GPUs / ideal speedup, at fixed batch per GPU"},
            [](const BatchRow& row) { return percent_cell(row.return_of_added); });
  table.add(true, {.title = "provenance", .brief = "prov."}, [](const BatchRow& row) { return provenance_cell(row.provenance); });
  DataTable data = std::move(table).of(curve.rows);
  data.notes = {"steps and times to the target loss · return: speedup gained by added GPUs / ideal speedup, at fixed batch per GPU"};
  data.legend = {provenance_legend_of(curve.rows)};
  return data;
}

DataTable noise_data(const BatchCurve& curve) {
  TableOf<BatchRow> table;
  table.add(true, {"GPUs", true}, [](const BatchRow& row) { return count_cell(row.world_size); });
  table.add(true, {"batch", true}, [](const BatchRow& row) { return count_cell(row.global_batch); });
  table.add(true, {"noise scale", true}, noise_cell);
  table.add(true, {"steps", true}, [](const BatchRow& row) { return count_cell(static_cast<std::int64_t>(row.noise->steps)); });
  std::vector<BatchRow> rows = curve.rows;
  std::erase_if(rows, [](const BatchRow& row) { return !row.noise; });
  DataTable data = std::move(table).of(rows);
  data.caption = "Gradient noise scale in samples (95% CI): about the critical batch";
  return data;
}

}  // namespace ddbench::reports
