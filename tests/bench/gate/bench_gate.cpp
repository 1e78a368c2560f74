// Is the gate calibrated? Prints how often it calls equal sides a regression and how often it sees a true
// slowdown of 5%, over simulated comparisons with run-to-run noise of 2% in several shapes; beside it what
// simpler rules would do.
//   bench_gate [comparisons] (default 400)

#include <benchmark/benchmark.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analyzer/statistics/statistics.h"
#include "simulated_runs.h"

namespace ddbench::test {
namespace {

using analyzer::GateSide;
using analyzer::RunMetric;

constexpr double kTrueSlowdown = 0.05;
constexpr unsigned kSeed = 7;

struct Mode {
  const char* name;
  Simulate simulate;
  bool has_goal;
};

std::vector<Mode> modes() {
  return {
      {"interleaved, 10 pairs",
       [](const auto& noise, double slowdown, Generator& g) {
         return simulate_pairs(noise, 10, slowdown, g);
       },
       true},
      {"stored baseline of 12 nights x 10 runs, candidate of 10",
       [](const auto& noise, double slowdown, Generator& g) {
         return simulate_nights(noise, 12, 10, slowdown, g);
       },
       true},
      {"interleaved, 5 pairs",
       [](const auto& noise, double slowdown, Generator& g) { return simulate_pairs(noise, 5, slowdown, g); },
       false},
      {"not interleaved, 10 and 10 runs",
       [](const auto& noise, double slowdown, Generator& g) {
         return simulate_blocks(noise, 10, slowdown, g);
       },
       false},
      {"one stored night of 10 runs, candidate of 10",
       [](const auto& noise, double slowdown, Generator& g) {
         return simulate_nights(noise, 1, 10, slowdown, g);
       },
       false},
  };
}

double percent(int count, int of) {
  return 100.0 * count / of;
}

void print_gate(const Mode& mode, int comparisons) {
  std::printf("\n%s\n  %-24s %14s %14s %22s\n", mode.name, "noise (2% between runs)", "false alarms",
              "seen at +5%", "false alarms at 5%");
  for (const NoiseShape& shape : noise_shapes()) {
    const SimulatedNoise noise{shape};
    SimulatedNoise wild{shape};
    wild.run_spread = 0.05;
    wild.session_spread = 0.0125;
    const double alarms =
        percent(count_regressions(mode.simulate, noise, 0, comparisons, kSeed), comparisons);
    const double seen =
        percent(count_regressions(mode.simulate, noise, kTrueSlowdown, comparisons, kSeed), comparisons);
    const double wild_alarms =
        percent(count_regressions(mode.simulate, wild, 0, comparisons, kSeed), comparisons);
    std::printf("  %-24s %12.2f%% %12.1f%% %20.2f%%%s\n", shape.name.c_str(), alarms, seen, wild_alarms,
                mode.has_goal && alarms > 1 ? "   ABOVE THE GOAL OF 1%" : "");
  }
}

std::vector<double> medians(const GateSide& side) {
  std::vector<double> values;
  for (const auto& run : side.runs) values.push_back(*run[RunMetric::kStepTime]);
  return values;
}

/// "More than 3% slower on median", the rule of many pipelines.
bool plain_threshold(const SimulatedSides& sides) {
  return analyzer::median(medians(sides.candidate)) > 1.03 * analyzer::median(medians(sides.baseline));
}

/// Welch's t with the runs as units and nothing against drift.
bool plain_welch(const SimulatedSides& sides) {
  const auto moments = [](const std::vector<double>& values) {
    double mean = 0, squares = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) squares += (value - mean) * (value - mean);
    const auto n = static_cast<double>(values.size());
    return std::pair{mean, squares / (n - 1) / n};
  };
  const auto [a, error_a] = moments(medians(sides.baseline));
  const auto [b, error_b] = moments(medians(sides.candidate));
  const double t = (b - a) / std::sqrt(error_a + error_b);
  const boost::math::students_t distribution(
      static_cast<double>(sides.baseline.runs.size() + sides.candidate.runs.size()) - 2);
  return boost::math::cdf(boost::math::complement(distribution, t)) < 0.01 && b > 1.03 * a;
}

/// 99% percentile bootstrap of the ratio of medians of runs.
bool plain_bootstrap(const SimulatedSides& sides) {
  const std::vector<double> a = medians(sides.baseline);
  const std::vector<double> b = medians(sides.candidate);
  Generator generator(kSeed);
  const auto resampled = [&](const std::vector<double>& values) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < values.size(); ++i) drawn.push_back(values[generator() % values.size()]);
    return analyzer::median(std::move(drawn));
  };
  std::vector<double> ratios(500);
  for (double& ratio : ratios) ratio = resampled(b) / resampled(a);
  std::sort(ratios.begin(), ratios.end());
  return ratios[5] > 1 && analyzer::median(b) > 1.03 * analyzer::median(a);
}

void print_simpler_rules(int comparisons) {
  struct Rule {
    const char* name;
    bool (*fails)(const SimulatedSides&);
  };
  constexpr Rule kRules[] = {
      {"median > 3%", plain_threshold}, {"Welch t", plain_welch}, {"bootstrap", plain_bootstrap}};
  std::printf("\nfalse alarms of simpler rules, 7 runs and right after them 7 of the candidate\n  %-24s",
              "noise (2% between runs)");
  for (const Rule& rule : kRules) std::printf(" %14s", rule.name);
  std::printf(" %14s\n", "this gate");
  for (const NoiseShape& shape : noise_shapes()) {
    const SimulatedNoise noise{shape};
    std::printf("  %-24s", shape.name.c_str());
    for (const Rule& rule : kRules) {
      Generator generator(kSeed);
      int alarms = 0;
      for (int i = 0; i < comparisons; ++i) alarms += rule.fails(simulate_blocks(noise, 7, 0, generator));
      std::printf(" %12.2f%%", percent(alarms, comparisons));
    }
    const Simulate blocks = [](const auto& n, double slowdown, Generator& g) {
      return simulate_blocks(n, 7, slowdown, g);
    };
    std::printf(" %12.2f%%\n", percent(count_regressions(blocks, noise, 0, comparisons, kSeed), comparisons));
  }
}

void print_speed() {
  Generator generator(kSeed);
  const SimulatedSides sides = simulate_pairs({noise_shapes().front()}, 10, 0, generator);
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kVerdicts = 200;
  for (int i = 0; i < kVerdicts; ++i)
    benchmark::DoNotOptimize(analyzer::judge(sides.baseline, sides.candidate, {}));
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
  std::printf("\na verdict on 10 pairs takes %.0f us\n", elapsed.count() / kVerdicts);
}

}  // namespace
}  // namespace ddbench::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int comparisons = argc > 1 ? std::atoi(argv[1]) : 400;
  if (comparisons < 1) {
    std::fprintf(stderr, "bench_gate: the number of comparisons must be 1 or more\n");
    return 2;
  }
  std::printf(
      "%d comparisons each; goals: at most 1%% false alarms, at least 95%% seen with white noise (first "
      "two)\n",
      comparisons);
  for (const ddbench::test::Mode& mode : ddbench::test::modes()) ddbench::test::print_gate(mode, comparisons);
  ddbench::test::print_simpler_rules(comparisons);
  ddbench::test::print_speed();
}
