#include "analyzer/predict/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "analyzer/predict/rebucket.h"
#include "analyzer/predict/recording.h"
#include "analyzer/statistics/moments.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

constexpr double kNormalQuantile = 1.959964;
constexpr double kModelShare = 0.15;    // of a gain's logarithm
constexpr double kLeastGain = 0.005;    // below the reproducibility of any machine
constexpr double kMegabyte = 1 << 20;

/// A change of the step, of the network, or of both.
struct Trial {
  std::string name;
  std::string change;
  std::string assumption;
  WhatIf what_if;
  double latency = 1;
  double per_byte = 1;
};

class Adviser {
 public:
  Adviser(const StepRecording& recording, const CollectiveCosts& costs, const store::RunRecord& run)
      : recording_(recording), costs_(costs), run_(run) {}

  Measured<AdviceReport> report() {
    const Measured<ReplayPrediction>& base = unchanged(false);
    if (!base) return Measured<AdviceReport>::missing(base.reason());
    report_.run = recording_.run;
    report_.step_ns = base->step_ns;
    report_.waited_ns = base->waited_ns;
    report_.notes = recording_.notes;
    if (run_.provenance.has(Provenance::kOversubscribed))
      report_.notes.push_back("the ranks shared cores: gains are those of this machine, not of one with a core for each rank");
    try_buckets();
    for (const Trial& trial : trials()) {
      if (const auto advice = tried(trial)) keep(*advice);
    }
    std::stable_sort(report_.advice.begin(), report_.advice.end(),
                     [](const Advice& a, const Advice& b) { return a.gain.value > b.gain.value; });
    return std::move(report_);
  }

 private:
  Measured<ReplayPrediction> predict(const Trial& trial, bool other_network) const {
    CollectiveCosts costs = costs_;
    costs.scale_network(trial.latency, trial.per_byte);
    PredictOptions options;
    options.what_if = trial.what_if;
    options.other_network = other_network;
    options.most_events_of_fewest = options.most_events;  // a report waits for dozens of these
    return predict_step(recording_, costs, recording_.shape, options);
  }

  /// The step as it is; every gain is relative to one of the two.
  const Measured<ReplayPrediction>& unchanged(bool other_network) {
    std::optional<Measured<ReplayPrediction>>& base = other_network ? base_with_modelled_costs_ : base_;
    if (!base) base = predict({}, other_network);
    return *base;
  }

  /// The gain against a replay whose collectives come from the same source; empty where it is not known.
  std::optional<Advice> tried(const Trial& trial) {
    std::string why = why_not_changed(recording_, trial.what_if);
    if (trial.what_if.half_gradients) why = why_not_halved(recording_, recording_.strategy, run_.run_case);
    if (!why.empty()) {
      report_.not_known.push_back(trial.change + ": " + why);
      return {};
    }
    const bool modelled = trial.what_if.changes_collectives() || trial.latency != 1 || trial.per_byte != 1;
    const Measured<ReplayPrediction>& base = unchanged(modelled);
    const Measured<ReplayPrediction> with = predict(trial, modelled);
    if (!base || !with) {
      report_.not_known.push_back(trial.change + ": " + (base ? with.reason() : base.reason()));
      return {};
    }
    std::vector<double> logs;
    for (std::size_t i = 0; i < base->replicates_ns.size(); ++i)
      logs.push_back(std::log(trial.what_if.batch_factor * base->replicates_ns[i] / with->replicates_ns[i]));
    const RunMoments moments = run_moments(logs);
    // Scaled costs have the same error with and without the change; those of other sizes have one of their own.
    const double costs = trial.what_if.changes_collectives() ? with->cost_error : 0;
    const double error = std::hypot(std::sqrt(moments.variance), kModelShare * moments.mean, costs);
    const auto gain = [](double logarithm) { return std::expm1(logarithm); };
    // Relative to the replay at the top of the report: costs from another source must not look like part of
    // the gain.
    const double step_ns = report_.step_ns.value * trial.what_if.batch_factor / std::exp(moments.mean);
    Advice advice{trial.name, trial.change, trial.assumption, {}, step_ns};
    advice.gain = {gain(moments.mean),
                   {gain(moments.mean - kNormalQuantile * error), gain(moments.mean + kNormalQuantile * error), 0.95,
                    "replay: pairs of bootstrap replicates, costs, model"}};
    return advice;
  }

  void keep(const Advice& advice) {
    if (advice.gain.interval.low > kLeastGain) {
      report_.advice.push_back(advice);
    } else {
      report_.no_gain.push_back(advice.change);
    }
  }

  /// One rank sends no gradients.
  bool reduces() const {
    return recording_.shape.gpus() > 1 &&
           std::any_of(recording_.collectives.begin(), recording_.collectives.end(), reduces_gradients);
  }

  /// As the case has it; of a program the largest bucket that was recorded.
  double bucket_bytes() const {
    if (is_reference(run_.run_case)) return static_cast<double>(run_.run_case.bucket_bytes);
    double largest = 0;
    for (const StepCollective& one : recording_.collectives) {
      if (reduces_gradients(one)) largest = std::max(largest, one.bytes);
    }
    return largest;
  }

  bool has_hook() const {
    const auto hook = run_.run_case.strategy_options.find("hook");
    return hook != run_.run_case.strategy_options.end() && hook->second != "none";
  }

  /// The best of some sizes.
  void try_buckets() {
    if (!reduces()) return;
    const double now = bucket_bytes();
    std::optional<Advice> best;
    std::vector<TriedBucket> sizes = {{now, report_.step_ns.value}};
    for (const double megabytes : {0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0}) {
      if (std::abs(megabytes * kMegabyte - now) < 1 || !why_too_many_buckets(recording_, megabytes * kMegabyte).empty()) continue;
      Trial trial{"bucket", fmt::format("buckets of {:g} MiB (now {:.3g} MiB)", megabytes, now / kMegabyte), "", {}};
      trial.what_if.bucket_bytes = megabytes * kMegabyte;
      const std::size_t unknown = report_.not_known.size();
      const auto advice = tried(trial);
      if (!advice) {
        report_.not_known.resize(unknown + 1);
        report_.not_known.back() = "another size of buckets" + report_.not_known.back().substr(trial.change.size());
        break;
      }
      sizes.push_back({megabytes * kMegabyte, advice->step_ns});
      if (!best || advice->gain.value > best->gain.value) best = *advice;
    }
    if (!best) return;
    keep(*best);
    std::sort(sizes.begin(), sizes.end(), [](const TriedBucket& a, const TriedBucket& b) { return a.bytes < b.bytes; });
    report_.buckets = std::move(sizes);
  }

  std::vector<Trial> trials() const {
    std::vector<Trial> trials;
    const auto add = [&](const char* name, const char* change, const char* assumption,
                         const std::function<void(Trial&)>& set) {
      trials.push_back({name, change, assumption, {}});
      set(trials.back());
    };
    if (recording_.strategy == "ddp" && reduces() && run_.run_case.precision == "fp32" && !has_hook())
      add("compression", "gradients sent in half precision (-S hook=fp16)",
          is_free(recording_.conversion) ? "converting them takes no time" : "",
          [](Trial& t) { t.what_if.half_gradients = true; });
    if (recording_.shape.nodes > 1) {
      add("bandwidth", "network of twice the bandwidth", "", [](Trial& t) { t.per_byte = 0.5; });
      add("latency", "network of half the latency", "", [](Trial& t) { t.latency = 0.5; });
    }
    if (recording_.shape.gpus() > 1) {
      add("stragglers", "no rank slower than the median rank", "",
          [](Trial& t) { t.what_if.without_stragglers = true; });
      add("overlap", "ideal overlap: collectives begin as soon as their gradients are computed", "",
          [](Trial& t) { t.what_if.ideal_overlap = true; });
      const auto accumulate = [](Trial& t) {
        t.what_if.batch_factor = 4;
        t.what_if.accumulate = 4;
      };
      if (run_.run_case.accumulate <= 1)
        add("accumulation", "4 micro-batches a step (accumulation)",
            "each of as many samples as a step has now; the larger batch trains as well", accumulate);
    }
    add("data_wait", "no wait for data", "", [](Trial& t) { t.what_if.without_data_wait = true; });
    add("host", "no time of the host between operators", "", [](Trial& t) { t.what_if.without_host = true; });
    add("batch", "twice the batch per GPU", "compute and data take twice as long, and the larger batch trains as well",
        [](Trial& t) { t.what_if.batch_factor = 2; });
    return trials;
  }

  const StepRecording& recording_;
  const CollectiveCosts& costs_;
  const store::RunRecord& run_;
  std::optional<Measured<ReplayPrediction>> base_;
  std::optional<Measured<ReplayPrediction>> base_with_modelled_costs_;
  AdviceReport report_;
};

}  // namespace

const TriedBucket* best_bucket(const AdviceReport& report) {
  const auto best = std::min_element(report.buckets.begin(), report.buckets.end(),
                                     [](const TriedBucket& a, const TriedBucket& b) { return a.step_ns < b.step_ns; });
  return best == report.buckets.end() ? nullptr : &*best;
}

Measured<AdviceReport> advise(const StepRecording& recording, const CollectiveCosts& costs,
                              const store::RunRecord& run) {
  return Adviser(recording, costs, run).report();
}

Measured<AdviceReport> advice_of(const store::RunStore& store, const store::RunRecord& run, std::size_t most_steps) {
  using Missing = Measured<AdviceReport>;
  if (!run.valid) return Missing::missing("the run is invalid: " + run.invalid_reason);
  if (run.state == store::RunState::kRunning) return Missing::missing("the run goes on");
  const Measured<StepRecording> recording = recording_of(store, run, most_steps);
  if (!recording) return Missing::missing(recording.reason());
  CollectiveCosts costs;
  add_costs(*recording, costs);
  return advise(*recording, costs, run);
}

}  // namespace ddbench::analyzer
