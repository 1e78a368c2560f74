#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/run/run_figures.h"
#include "analyzer/scaling/scaling_curve.h"
#include "analyzer/statistics/statistics.h"

namespace ddbench::analyzer {
namespace {

constexpr int kCurvePoints = 33;

/// How a speedup on n GPUs is converted for display.
using Shown = double (*)(double speedup, double n);

double speedup_itself(double speedup, double) {
  return speedup;
}
double efficiency_percent(double speedup, double n) {
  return 100 * speedup / n;
}

double largest_n(const ScalingCurve& curve) {
  double largest = 1;
  for (const CurveRow& row : curve.rows) largest = std::max(largest, static_cast<double>(row.world_size));
  for (const Prediction& prediction : curve.predictions) largest = std::max(largest, prediction.n);
  return largest;
}

/// Joined where no law runs through the points.
Series measured_series(const ScalingCurve& curve, Shown shown) {
  Series series;
  series.name = "measured";
  series.shape = curve.model ? SeriesShape::kPoints : SeriesShape::kLine;
  for (const CurveRow& row : curve.rows) {
    const double gpus = row.world_size;
    const double n = gpus / curve.baseline_gpus;
    Point point{gpus, shown(row.speedup, n), {}, {}};
    if (row.efficiency_interval) {
      point.interval = *row.efficiency_interval;
      point.interval->low = shown(row.efficiency_interval->low * n, n);
      point.interval->high = shown(row.efficiency_interval->high * n, n);
    }
    series.provenance = ProvenanceSet::from_bits(series.provenance.bits() | row.provenance.bits());
    series.points.push_back(std::move(point));
  }
  return series;
}

Series ideal_series(const ScalingCurve& curve, Shown shown) {
  Series series{"ideal", SeriesShape::kLine, {}, {}};
  for (const double gpus : {static_cast<double>(curve.rows.front().world_size), largest_n(curve)}) {
    const double n = gpus / curve.baseline_gpus;
    series.points.push_back({gpus, shown(n, n), {}, {}});
  }
  return series;
}

/// Of a throughput, widened for the error of the baseline that it is divided by.
ConfidenceInterval over_baseline(const ScalingCurve& curve, const Estimate& throughput) {
  ConfidenceInterval interval = throughput.interval;
  const Measured<Estimate> baseline = mean_of_runs(curve.baseline_run_samples_per_s, interval.level);
  if (!baseline) return interval;
  const double reach = std::log(baseline->interval.high / baseline->value);
  const auto widened = [&](double factor) { return std::exp(std::hypot(std::log(factor), reach)); };
  if (interval.low > 0) interval.low = throughput.value / widened(throughput.value / interval.low);
  interval.high = throughput.value * widened(interval.high / throughput.value);
  return interval;
}

Point predicted_point(const ScalingCurve& curve, const Prediction& prediction, Shown shown) {
  const double n = prediction.n / curve.baseline_gpus;
  Point point{prediction.n, shown(curve.speedup_of(prediction.throughput), n), {}, {}};
  if (prediction.interval) {
    point.interval = over_baseline(curve, {prediction.throughput, prediction.interval->interval});
    point.interval->low = shown(curve.speedup_of(point.interval->low), n);
    point.interval->high = shown(curve.speedup_of(point.interval->high), n);
  }
  return point;
}

void add_fit(const ScalingCurve& curve, Shown shown, Figure& figure) {
  if (!curve.model) {
    figure.notes.push_back("no fitted law: " + curve.model.reason());
    return;
  }
  const ScalingFit& fit = curve.model->best;
  Series series{std::string(to_string(fit.model)), SeriesShape::kLine, {}, {}};
  series.provenance.add(Provenance::kPredicted);
  const double from = curve.rows.front().world_size;
  const double to = curve.rows.back().world_size;
  for (int i = 0; i < kCurvePoints; ++i) {
    const double gpus = from * std::pow(to / from, static_cast<double>(i) / (kCurvePoints - 1));
    series.points.push_back(predicted_point(curve, predict(fit, gpus), shown));
  }
  std::vector<Prediction> further = curve.predictions;
  std::sort(further.begin(), further.end(), [](const auto& a, const auto& b) { return a.n < b.n; });
  for (const Prediction& prediction : further) {
    if (prediction.n > to) series.points.push_back(predicted_point(curve, prediction, shown));
  }
  figure.series.push_back(std::move(series));
  if (!further.empty() && further.back().n > to) {
    figure.notes.push_back(fmt::format(
        "beyond {:g} GPUs the line goes through the predictions: averaged models, not this law", to));
  }
  figure.notes.insert(figure.notes.end(), curve.model->notes.begin(), curve.model->notes.end());
}

Figure curve_figure(const ScalingCurve& curve, const char* title, Axis y, Shown shown) {
  Figure figure;
  figure.title = title;
  figure.x = {"GPUs", "1", true};
  figure.y = std::move(y);
  figure.notes = curve.notes;
  if (curve.rows.empty()) return figure;
  figure.notes.insert(figure.notes.begin(), fmt::format("against {}", curve.baseline));
  figure.series = {ideal_series(curve, shown), measured_series(curve, shown)};
  add_fit(curve, shown, figure);
  return figure;
}

}  // namespace

Figure speedup_figure(const ScalingCurve& curve) {
  return curve_figure(curve, "Speedup over GPUs", {"speedup", "1", true}, speedup_itself);
}

Figure efficiency_figure(const ScalingCurve& curve) {
  return curve_figure(curve, "Efficiency over GPUs", {"efficiency", "%", false}, efficiency_percent);
}

Figure waterfall_figure(const ScalingCurve& curve, std::size_t row) {
  const CurveRow& here = curve.rows.at(row);
  return case_waterfall_figure(here.run_case, curve.baseline, here.waterfall, here.loss_intervals,
                               here.provenance);
}

}  // namespace ddbench::analyzer
