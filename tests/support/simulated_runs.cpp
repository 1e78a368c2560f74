#include "simulated_runs.h"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/statistics.h"

namespace ddbench::test {
namespace {

using analyzer::GateSide;
using analyzer::RunMeasures;
using analyzer::RunMetric;

constexpr double kStep_ns = 10e6;
constexpr std::int64_t kMinute_ns = 60'000'000'000;
constexpr std::int64_t kDay_ns = 24 * 60 * kMinute_ns;

using Series = std::vector<double>;
using Draw = std::function<double(Generator&)>;

double normal(Generator& generator) {
  return std::normal_distribution<double>()(generator);
}

std::function<Series(Generator&, int)> independent(Draw draw) {
  return [draw](Generator& generator, int count) {
    Series series(static_cast<std::size_t>(count));
    for (double& value : series) value = draw(generator);
    return series;
  };
}

std::function<Series(Generator&, int)> autoregressive(double coefficient) {
  return [coefficient](Generator& generator, int count) {
    Series series(static_cast<std::size_t>(count));
    double state = normal(generator);
    for (double& value : series) {
      value = state;
      state = coefficient * state + std::sqrt(1 - coefficient * coefficient) * normal(generator);
    }
    return series;
  };
}

/// A machine that warms up or cools down over the session, and wanders while it does.
Series drifting(Generator& generator, int count) {
  Series series = autoregressive(0.9)(generator, count);
  const double slope = normal(generator) > 0 ? 1 : -1;
  for (int i = 0; i < count; ++i) {
    const double place = count > 1 ? 2.0 * i / (count - 1) - 1 : 0;  // -1 to 1: variance 1/3
    series[static_cast<std::size_t>(i)] =
        std::sqrt(0.5) * series[static_cast<std::size_t>(i)] + std::sqrt(0.5 * 3) * slope * place;
  }
  return series;
}

double skewed(Generator& generator) {
  constexpr double kSigma = 0.5;
  const double mean = std::exp(kSigma * kSigma / 2);
  const double spread = mean * std::sqrt(std::exp(kSigma * kSigma) - 1);
  return (std::exp(kSigma * normal(generator)) - mean) / spread;
}

double heavy_tailed(Generator& generator) {
  return std::student_t_distribution<double>(3)(generator) / std::sqrt(3);
}

/// Three runs in ten land in a slow mode (another placement of memory, say).
double bimodal(Generator& generator) {
  const bool slow = std::uniform_real_distribution<double>()(generator) < 0.3;
  return std::sqrt(0.95) * ((slow ? 1 : 0) - 0.3) / std::sqrt(0.21) + std::sqrt(0.05) * normal(generator);
}

RunMeasures simulated_run(const SimulatedNoise& noise, const std::string& id, std::int64_t started_ns,
                          double level, Generator& generator) {
  std::vector<double> steps_ns = noise.shape.steps(generator, noise.steps);
  for (double& step : steps_ns) step = kStep_ns * level * std::max(0.05, 1 + noise.step_spread * step);
  RunMeasures measures;
  measures.run.id = id;
  measures.run.state = store::RunState::kDone;
  measures.run.started_wall_ns = started_ns;
  measures.run.finished_wall_ns = started_ns + kMinute_ns / 2;
  measures.probed_steps = noise.steps;
  measures[RunMetric::kStepTime] = analyzer::median(std::move(steps_ns));
  return measures;
}

/// The levels of a session's runs.
Series session_levels(const SimulatedNoise& noise, int runs, Generator& generator) {
  Series levels = noise.shape.runs(generator, runs);
  const double session = noise.session_spread * noise.shape.runs(generator, 1).front();
  for (double& level : levels) level = std::max(0.05, 1 + session + noise.run_spread * level);
  return levels;
}

void add_run(GateSide& side, const SimulatedNoise& noise, std::int64_t started_ns, double level,
             Generator& generator) {
  const std::string id = side.reference + std::to_string(side.runs.size());
  side.runs.push_back(simulated_run(noise, id, started_ns, level, generator));
}

SimulatedSides empty_sides() {
  SimulatedSides sides;
  sides.baseline.reference = "a";
  sides.candidate.reference = "b";
  return sides;
}

}  // namespace

std::vector<NoiseShape> noise_shapes() {
  const auto white = independent(normal);
  return {{"white", white, white},
          {"autocorrelated steps", autoregressive(0.9), white},
          {"skewed (lognormal)", independent(skewed), independent(skewed)},
          {"heavy tails (t, 3 df)", independent(heavy_tailed), independent(heavy_tailed)},
          {"run-to-run drift", autoregressive(0.9), drifting},
          {"bimodal runs", white, independent(bimodal)}};
}

SimulatedSides simulate_pairs(const SimulatedNoise& noise, int pairs, double slowdown, Generator& generator) {
  SimulatedSides sides = empty_sides();
  const Series levels = session_levels(noise, 2 * pairs, generator);
  const std::vector<bool> candidate_first = analyzer::interleaved_order(pairs, generator());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool candidate = candidate_first[i / 2] == (i % 2 == 0);
    add_run(candidate ? sides.candidate : sides.baseline, noise, static_cast<std::int64_t>(i) * kMinute_ns,
            levels[i] * (candidate ? 1 + slowdown : 1), generator);
  }
  return sides;
}

SimulatedSides simulate_blocks(const SimulatedNoise& noise, int runs, double slowdown, Generator& generator) {
  SimulatedSides sides = empty_sides();
  const Series levels = session_levels(noise, 2 * runs, generator);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool candidate = i >= static_cast<std::size_t>(runs);
    add_run(candidate ? sides.candidate : sides.baseline, noise, static_cast<std::int64_t>(i) * kMinute_ns,
            levels[i] * (candidate ? 1 + slowdown : 1), generator);
  }
  return sides;
}

SimulatedSides simulate_nights(const SimulatedNoise& noise, int nights, int runs, double slowdown,
                               Generator& generator) {
  SimulatedSides sides = empty_sides();
  for (int night = 0; night <= nights; ++night) {
    const bool candidate = night == nights;
    std::int64_t started_ns = night * kDay_ns;
    for (const double level : session_levels(noise, runs, generator)) {
      add_run(candidate ? sides.candidate : sides.baseline, noise, started_ns,
              level * (candidate ? 1 + slowdown : 1), generator);
      started_ns += kMinute_ns;
    }
  }
  return sides;
}

int count_regressions(const Simulate& simulate, const SimulatedNoise& noise, double slowdown, int comparisons,
                      unsigned seed) {
  Generator generator(seed);
  int regressions = 0;
  for (int i = 0; i < comparisons; ++i) {
    SimulatedSides sides = simulate(noise, slowdown, generator);
    const analyzer::GateVerdict verdict =
        analyzer::judge(std::move(sides.baseline), std::move(sides.candidate), {});
    regressions += verdict.outcome == analyzer::GateOutcome::kRegression;
  }
  return regressions;
}

}  // namespace ddbench::test
