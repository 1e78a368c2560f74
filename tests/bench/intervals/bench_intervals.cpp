// Do the intervals and detectors hold what they promise? Prints, over simulated series with a known truth,
// how often the interval of a run's step time holds it, and that of the runs of --repeat auto, and how often a
// history shows a change, or an alpha-beta fit a regime, that is not there.
//   bench_intervals [trials] (default 2000)

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyzer/collectives/alpha_beta.h"
#include "analyzer/statistics/change_points.h"
#include "analyzer/statistics/series_mean.h"
#include "autoregressive.h"
#include "repeated_runs.h"

namespace ddbench::test {
namespace {

constexpr unsigned kSeed = 20261122;
constexpr double kCoverageGoal = 0.93;

double percent(int count, int of) {
  return 100.0 * count / of;
}

void print_coverage(double coefficient, std::size_t steps, int trials) {
  std::mt19937_64 random(kSeed);
  int held = 0;
  double width = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const std::vector<double> values = autoregressive_steps_ns(steps, coefficient, random);
    const ConfidenceInterval interval = analyzer::mean_of_steps(values).value().estimate.interval;
    held += interval.low <= kTrueStep_ns && kTrueStep_ns <= interval.high;
    width += std::log(interval.high / interval.low) / 2 / trials;
  }
  std::printf("  AR(1) %.1f %8zu %10.1f%% %14.2f%%%s\n", coefficient, steps, percent(held, trials),
              width * 100, held < kCoverageGoal * trials ? "   BELOW THE GOAL" : "");
}

void print_coverages(int trials) {
  std::printf("95%% interval of a run's step time (5%% scatter); goal: coverage of %.0f%% or more\n",
              kCoverageGoal * 100);
  std::printf("  %-9s %8s %12s %16s\n", "steps are", "steps", "coverage", "mean half width");
  for (const double coefficient : {0.0, 0.5, 0.8, 0.9}) {
    for (const std::size_t steps : {std::size_t{60}, std::size_t{200}, std::size_t{1000}})
      print_coverage(coefficient, steps, trials);
  }
}

void print_repeats(int trials) {
  constexpr double kMargin = 0.01;
  constexpr double kWorstGoal = 0.92;
  std::printf("\n95%% interval over the runs of --repeat auto, margin 1%%; goal: coverage of %.0f%% or more, %.0f%% at each scatter\n",
              kCoverageGoal * 100, kWorstGoal * 100);
  std::printf("  %-13s %8s %12s %12s %12s\n", "runs scatter", "runs", "coverage", "end early", "of these");
  RepeatedCases all;
  const auto print = [](const char* scatter, const RepeatedCases& cases, double goal) {
    std::printf("  %-13s %8.1f %11.1f%% %11.1f%% %11.1f%%%s\n", scatter, cases.runs / cases.cases, 100 * cases.share(),
                percent(cases.early, cases.cases), 100 * cases.early_share(),
                cases.share() < goal ? "   BELOW THE GOAL" : "");
  };
  for (const double scatter : {0.004, 0.008, 0.01, 0.0125, 0.015, 0.02, 0.03}) {
    std::mt19937_64 random(kSeed);
    const RepeatedCases cases = repeated_cases(trials, scatter, kMargin, random);
    print((std::to_string(scatter * 100).substr(0, 4) + "%").c_str(), cases, kWorstGoal);
    all.add(cases);
  }
  print("all", all, kCoverageGoal);
}

void print_false_changes(int trials) {
  std::printf("\nhistories without a change that show one; goal: 5%% or less\n");
  for (const double coefficient : {0.0, 0.5, 0.8}) {
    for (const std::size_t runs : {std::size_t{12}, std::size_t{30}, std::size_t{60}}) {
      std::mt19937_64 random(kSeed);
      int alarms = 0;
      for (int i = 0; i < trials; ++i)
        alarms += !analyzer::change_points(autoregressive(runs, coefficient, random)).empty();
      std::printf("  AR(1) %.1f %8zu runs %10.1f%%%s\n", coefficient, runs, percent(alarms, trials),
                  alarms > 0.05 * trials ? "   ABOVE THE GOAL" : "");
    }
  }
}

void print_false_regimes(int trials) {
  std::printf("\nalpha-beta lines cut in two by 3%% of noise, 3 repetitions; goal: 2%% or less\n");
  std::normal_distribution<double> normal;
  for (const int sizes : {8, 10, 12, 20}) {
    std::mt19937_64 random(kSeed);
    int cut = 0;
    for (int i = 0; i < trials; ++i) {
      std::vector<analyzer::TimedSize> points;
      for (int size = 0; size < sizes; ++size) {
        const double bytes = 1024.0 * std::exp2(size);
        points.push_back({"", bytes, {}});
        for (int repetition = 0; repetition < 3; ++repetition)
          points.back().time_ns.push_back((50'000 + 0.8 * bytes) * std::exp(0.03 * normal(random)));
      }
      cut += analyzer::fit_alpha_beta(points, 8)[0].regimes.size() > 1;
    }
    std::printf("  %2d sizes %10.1f%%%s\n", sizes, percent(cut, trials),
                cut > 0.02 * trials ? "   ABOVE THE GOAL" : "");
  }
}

}  // namespace
}  // namespace ddbench::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int trials = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (trials < 1) {
    std::fprintf(stderr, "bench_intervals: the number of trials must be 1 or more\n");
    return 2;
  }
  ddbench::test::print_coverages(trials);
  ddbench::test::print_repeats(10 * trials);
  ddbench::test::print_false_changes(trials / 4 + 1);
  ddbench::test::print_false_regimes(trials / 4 + 1);
}
