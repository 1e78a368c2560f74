#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <ctime>

namespace ddbench::bench {

/// Begins with the benchmark's loop; report() ends it. Rates are per second of this thread's CPU time, so
/// that a busy machine does not change them. `x_goal` is the rate over the goal: 1 or more meets it.
class RateReport {
 public:
  explicit RateReport(benchmark::State& state) : state_(state) {}

  double report(std::size_t items_an_iteration) const {
    const double items = static_cast<double>(state_.iterations()) * static_cast<double>(items_an_iteration);
    return state_.counters["items/cpu_s"] = items / (cpu_seconds() - start_s_);
  }
  void report_against(std::size_t items_an_iteration, double goal_items_per_s) const {
    state_.counters["x_goal"] = report(items_an_iteration) / goal_items_per_s;
  }

 private:
  static double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  benchmark::State& state_;
  double start_s_ = cpu_seconds();
};

}  // namespace ddbench::bench
