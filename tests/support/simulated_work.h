#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "analyzer/diagnose/own_work.h"
#include "autoregressive.h"

namespace ddbench::test {

/// What is wrong in a simulated run.
enum class Injected { kNothing, kSlowCompute, kContention, kSlowData, kHostGaps, kSlowNode, kPauses, kMoving, kNoise };

struct SimulatedRun {
  int nodes = 2;
  int ranks_per_node = 2;
  std::size_t steps = 300;
  double noise = 0.03;        ///< standard deviation of a rank's compute, of its mean
  double coefficient = 0.5;   ///< of the AR(1) noise
  Injected injected = Injected::kNothing;
  std::size_t victim = 0;     ///< a rank; of kSlowNode the node
  std::size_t onset = 0;      ///< the first step with the fault
  double strength = 0.3;      ///< of the usual own work; pauses: length in steps
  std::size_t period = 25;    ///< of pauses, in steps
};

inline constexpr double kUsualCompute_ns = 8e6;
inline constexpr double kUsualData_ns = 0.5e6;
inline constexpr double kUsualHost_ns = 0.5e6;
inline constexpr double kUsualTransfer_ns = 1e6;
inline constexpr double kUsualWork_ns = kUsualCompute_ns + kUsualData_ns + kUsualHost_ns;

/// Own work that the fault adds to a rank's step.
inline analyzer::OwnWork injected_work(const SimulatedRun& run, std::size_t rank, std::size_t step, std::size_t moved_to) {
  using analyzer::OwnPart;
  analyzer::OwnWork work;
  if (step < run.onset) return work;
  const bool is_victim = rank == run.victim;
  const double added_ns = run.strength * kUsualWork_ns;
  switch (run.injected) {
    case Injected::kNothing:
    case Injected::kNoise: break;
    case Injected::kSlowCompute: work[OwnPart::kCompute] = is_victim ? added_ns : 0; break;
    case Injected::kContention: work[OwnPart::kCpuWait] = is_victim ? added_ns : 0; break;
    case Injected::kSlowData: work[OwnPart::kDataWait] = is_victim ? added_ns : 0; break;
    case Injected::kHostGaps: work[OwnPart::kHost] = is_victim ? added_ns : 0; break;
    case Injected::kSlowNode:
      work[OwnPart::kCompute] = rank / static_cast<std::size_t>(run.ranks_per_node) == run.victim ? added_ns : 0;
      break;
    case Injected::kPauses: work[OwnPart::kHost] = is_victim && step % run.period == 3 ? added_ns : 0; break;
    case Injected::kMoving: work[OwnPart::kCompute] = rank == moved_to ? added_ns : 0; break;
  }
  return work;
}

inline analyzer::WorkTable simulate(const SimulatedRun& run, std::mt19937_64& random) {
  using analyzer::OwnPart;
  analyzer::WorkTable table;
  const auto ranks = static_cast<std::size_t>(run.nodes * run.ranks_per_node);
  std::vector<std::vector<double>> noise;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    table.ranks.push_back({static_cast<int>(rank), static_cast<int>(rank) / run.ranks_per_node, "host"});
    noise.push_back(autoregressive(run.steps, run.coefficient, random));
  }
  double begin_ns = 0;
  for (std::size_t step = 0; step < run.steps; ++step) {
    const std::size_t moved_to = std::uniform_int_distribution<std::size_t>(0, ranks - 1)(random);
    double slowest_ns = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      analyzer::OwnWork work = injected_work(run, rank, step, moved_to);
      work[OwnPart::kCompute] += std::max(0.2, 1 + run.noise * noise[rank][step]) * kUsualCompute_ns;
      work[OwnPart::kDataWait] += kUsualData_ns;
      work[OwnPart::kHost] += kUsualHost_ns;
      slowest_ns = std::max(slowest_ns, work.total());
      table.work.push_back(work);
      table.transfer_ns.push_back(kUsualTransfer_ns);
    }
    table.steps.push_back(static_cast<std::uint32_t>(step + 5));
    table.begin_ns.push_back(begin_ns);
    table.exposed_ns.push_back(kUsualTransfer_ns);
    table.step_ns.push_back(slowest_ns + kUsualTransfer_ns);
    begin_ns += table.step_ns.back();
  }
  return table;
}

}  // namespace ddbench::test
