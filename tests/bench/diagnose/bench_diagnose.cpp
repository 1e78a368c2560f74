// How often does `ddbench diagnose` accuse a rank in a healthy run, and how often does it find the right
// ranks and cause? Prints both over simulated runs with a known truth.
//   bench_diagnose [trials] (default 300)

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "analyzer/diagnose/diagnosis.h"
#include "simulated_work.h"

namespace ddbench::test {
namespace {

using analyzer::Cause;
using analyzer::Diagnosis;

constexpr unsigned kSeed = 20261123;
constexpr double kMostFalseAlarms = 0.01;
constexpr double kLeastRight = 0.95;
constexpr double kOnsetTolerance = 0.05;

struct World {
  int nodes;
  int ranks_per_node;
};
constexpr World kWorlds[] = {{2, 1}, {1, 3}, {2, 2}, {2, 4}, {8, 4}};

void print_false_alarms(int trials) {
  std::printf("healthy runs in which somebody is accused; goal: at most %.0f%%\n", 100 * kMostFalseAlarms);
  std::printf("  %-8s %6s %8s %8s %10s\n", "noise", "ranks", "steps", "accused", "jitter");
  for (const double noise : {0.02, 0.05, 0.15, 0.40}) {
    for (const World world : kWorlds) {
      for (const std::size_t steps : {std::size_t{30}, std::size_t{300}}) {
        for (const double coefficient : {0.0, 0.8, 0.95}) {
          std::mt19937_64 random(kSeed);
          int accused = 0;
          int jitter = 0;
          for (int i = 0; i < trials; ++i) {
            SimulatedRun run;
            run.nodes = world.nodes;
            run.ranks_per_node = world.ranks_per_node;
            run.steps = steps;
            run.noise = noise;
            run.coefficient = coefficient;
            const auto found = analyzer::diagnose(simulate(run, random));
            accused += is_accusation(found->cause);
            jitter += found->cause == Cause::kJitter;
          }
          std::printf("  %3.0f%% %.2f %6d %8zu %7.1f%% %9.1f%%%s\n", 100 * noise, coefficient,
                      world.nodes * world.ranks_per_node, steps, 100.0 * accused / trials, 100.0 * jitter / trials,
                      accused > kMostFalseAlarms * trials ? "   ABOVE THE GOAL" : "");
        }
      }
    }
  }
}

Cause truth_of(Injected injected) {
  switch (injected) {
    case Injected::kSlowCompute:
    case Injected::kSlowNode: return Cause::kSlowCompute;
    case Injected::kContention: return Cause::kContention;
    case Injected::kSlowData: return Cause::kDataLoading;
    case Injected::kHostGaps: return Cause::kHostGaps;
    case Injected::kPauses: return Cause::kPauses;
    case Injected::kMoving: return Cause::kMovingImbalance;
    default: return Cause::kHealthy;
  }
}

bool names_victim(const SimulatedRun& run, const Diagnosis& found) {
  if (run.injected == Injected::kMoving) return found.ranks.empty();
  if (run.injected == Injected::kSlowNode)
    return found.nodes == std::vector{static_cast<int>(run.victim)} && found.is_whole_node;
  return found.ranks == std::vector{static_cast<int>(run.victim)};
}

bool has_onset(const SimulatedRun& run, const Diagnosis& found) {
  if (run.injected == Injected::kMoving || run.injected == Injected::kPauses) return true;
  const double error = static_cast<double>(found.first_step) - static_cast<double>(run.onset + 5);
  return std::abs(error) <= kOnsetTolerance * static_cast<double>(run.steps);
}

struct Kind {
  const char* name;
  Injected injected;
  double strength;
};
constexpr Kind kKinds[] = {{"slow compute", Injected::kSlowCompute, 0.3}, {"slow compute", Injected::kSlowCompute, 0.18},
                           {"contention", Injected::kContention, 0.3},    {"slow data", Injected::kSlowData, 0.3},
                           {"host gaps", Injected::kHostGaps, 0.3},       {"slow node", Injected::kSlowNode, 0.3},
                           {"pauses", Injected::kPauses, 6},              {"moving", Injected::kMoving, 0.4}};

void print_hits(int trials) {
  std::printf("\nfaults of which cause, victim and onset (within %.0f%% of the steps) are right; goal: %.0f%%\n",
              100 * kOnsetTolerance, 100 * kLeastRight);
  std::printf("  %-14s %8s %6s %6s %8s %8s %8s\n", "fault", "strength", "ranks", "noise", "cause", "victim", "onset");
  for (const Kind& kind : kKinds) {
    for (const World world : kWorlds) {
      if (kind.injected == Injected::kSlowNode && (world.nodes < 2 || world.ranks_per_node < 2)) continue;
      for (const double noise : {0.03, 0.08}) {
        std::mt19937_64 random(kSeed);
        int cause = 0;
        int victim = 0;
        int onset = 0;
        for (int i = 0; i < trials; ++i) {
          SimulatedRun run;
          run.nodes = world.nodes;
          run.ranks_per_node = world.ranks_per_node;
          run.noise = noise;
          run.injected = kind.injected;
          run.strength = kind.strength;
          const std::size_t victims = kind.injected == Injected::kSlowNode
                                          ? static_cast<std::size_t>(world.nodes)
                                          : static_cast<std::size_t>(world.nodes * world.ranks_per_node);
          run.victim = std::uniform_int_distribution<std::size_t>(0, victims - 1)(random);
          const bool from_begin = kind.injected == Injected::kMoving || kind.injected == Injected::kPauses || i % 3 == 0;
          run.onset = from_begin ? 0 : std::uniform_int_distribution<std::size_t>(30, 240)(random);
          const auto found = analyzer::diagnose(simulate(run, random));
          const bool right_cause = found->cause == truth_of(kind.injected);
          const bool right_victim = right_cause && names_victim(run, *found);
          cause += right_cause;
          victim += right_victim;
          onset += right_victim && has_onset(run, *found);
        }
        std::printf("  %-14s %7.0f%% %6d %5.0f%% %7.1f%% %7.1f%% %7.1f%%%s\n", kind.name, 100 * kind.strength,
                    world.nodes * world.ranks_per_node, 100 * noise, 100.0 * cause / trials, 100.0 * victim / trials,
                    100.0 * onset / trials, onset < kLeastRight * trials ? "   BELOW THE GOAL" : "");
      }
    }
  }
}

void print_speed() {
  std::mt19937_64 random(kSeed);
  SimulatedRun run;
  run.nodes = 8;
  run.ranks_per_node = 8;
  run.steps = 20'000;
  run.injected = Injected::kSlowCompute;
  run.onset = 9'000;
  const analyzer::WorkTable table = simulate(run, random);
  const auto begin = std::chrono::steady_clock::now();
  const auto found = analyzer::diagnose(table);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("\n64 ranks, 20,000 steps: %.2f s; %s\n", took.count(), analyzer::verdict_in_words(*found).c_str());
}

}  // namespace
}  // namespace ddbench::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int trials = argc > 1 ? std::atoi(argv[1]) : 300;
  if (trials < 1) {
    std::fprintf(stderr, "bench_diagnose: the number of trials must be 1 or more\n");
    return 2;
  }
  ddbench::test::print_false_alarms(trials);
  ddbench::test::print_hits(trials);
  ddbench::test::print_speed();
}
