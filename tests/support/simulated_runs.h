#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/gate/gate.h"

namespace ddbench::test {

using Generator = std::mt19937_64;

/// How the times of steps within a run and of runs within a session scatter. Both functions draw a series of
/// mean 0 and variance 1, a new path each call.
struct NoiseShape {
  std::string name;
  std::function<std::vector<double>(Generator&, int)> steps;
  std::function<std::vector<double>(Generator&, int)> runs;
};

/// White, autocorrelated steps, skewed, heavy tails, run-to-run drift, bimodal.
std::vector<NoiseShape> noise_shapes();

struct SimulatedNoise {
  NoiseShape shape;
  double step_spread = 0.03;      ///< of single steps, as a share
  double run_spread = 0.02;       ///< of runs
  double session_spread = 0.005;  ///< of sessions; drawn in the shape of the runs
  int steps = 60;
};

struct SimulatedSides {
  analyzer::GateSide baseline;
  analyzer::GateSide candidate;
};

/// `pairs` pairs in the order of interleaved_order, the candidate's steps (1 + slowdown) times as long.
SimulatedSides simulate_pairs(const SimulatedNoise& noise, int pairs, double slowdown, Generator& generator);
/// A series of `runs` baseline runs and, right after it, one of the candidate.
SimulatedSides simulate_blocks(const SimulatedNoise& noise, int runs, double slowdown, Generator& generator);
/// A stored baseline of `nights` sessions of `runs` runs, and a candidate of one more.
SimulatedSides simulate_nights(const SimulatedNoise& noise, int nights, int runs, double slowdown,
                               Generator& generator);

using Simulate = std::function<SimulatedSides(const SimulatedNoise&, double slowdown, Generator&)>;
/// How many of `comparisons` simulated ones the gate calls a regression.
int count_regressions(const Simulate& simulate, const SimulatedNoise& noise, double slowdown, int comparisons,
                      unsigned seed);

}  // namespace ddbench::test
