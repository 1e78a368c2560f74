#include "analyzer/collectives/micro_values.h"

#include <cmath>
#include <map>

#include "core/bounded.h"

namespace ddbench::analyzer {
namespace {

// The ranks' numbers are doubles that anyone may have written.
constexpr std::int64_t kMost = std::int64_t{1} << 60;
constexpr std::int64_t kMostIterations = std::int64_t{1} << 40;  // of one batch
constexpr std::int64_t kMostWrong = std::int64_t{1} << 40;  // of one rank: the sum over 65536 stays in int64

using ValueByStep = std::map<std::uint32_t, double>;

/// What one rank stored under one name.
ValueByStep values_of(const store::RunStore& store, const store::RunRecord& run, int rank, const char* name) {
  ValueByStep values;
  for (const auto& [step, value] : store.step_values(run.id, rank, name)) {
    if (std::isfinite(value)) values.emplace(step, value);
  }
  return values;
}

double at(const ValueByStep& values, std::uint32_t step) {
  const auto found = values.find(step);
  return found == values.end() ? 0 : found->second;
}

bool is_operation(double value) {
  return value >= 0 && value < kMicroOperationCount && value == std::floor(value);
}

/// Batches of all ranks among the steps [begin, end).
std::vector<std::vector<double>> batches(const std::vector<ValueByStep>& times, std::uint32_t begin,
                                         std::uint32_t end) {
  std::vector<std::vector<double>> result;
  for (auto batch = times[0].lower_bound(begin); batch != times[0].end() && batch->first < end; ++batch) {
    std::vector<double> of_ranks;
    for (const ValueByStep& of_rank : times) {
      if (at(of_rank, batch->first) > 0) of_ranks.push_back(at(of_rank, batch->first));
    }
    if (of_ranks.size() == times.size()) result.push_back(std::move(of_ranks));
  }
  return result;
}

}  // namespace

std::vector<MicroMeasurement> micro_measurements(const store::RunStore& store, const store::RunRecord& run) {
  std::vector<ValueByStep> times;
  std::vector<ValueByStep> wrong;
  // A run that was cut off has no rank rows: the case states the number of ranks.
  for (int rank = 0; rank < run.run_case.world_size(); ++rank) {
    times.push_back(values_of(store, run, rank, kMicroTimeValue));
    wrong.push_back(values_of(store, run, rank, kMicroWrongValue));
  }
  // All ranks measure the same in lock step, so rank 0's record describes it for all.
  const ValueByStep operations = values_of(store, run, 0, kMicroOperationValue);
  const ValueByStep bytes = values_of(store, run, 0, kMicroBytesValue);
  const ValueByStep in_place = values_of(store, run, 0, kMicroInPlaceValue);
  const ValueByStep iterations = values_of(store, run, 0, kMicroIterationsValue);
  const ValueByStep work = values_of(store, run, 0, kMicroWorkValue);
  std::vector<MicroMeasurement> measurements;
  for (auto first = operations.begin(); first != operations.end(); ++first) {
    const std::uint32_t begin = first->first;
    const auto next = std::next(first);
    if (!is_operation(first->second)) continue;
    MicroMeasurement measured;
    measured.operation = static_cast<MicroOperation>(first->second);
    measured.bytes = bounded(at(bytes, begin), 0, kMost);
    measured.in_place = at(in_place, begin) != 0;
    measured.iterations = bounded(at(iterations, begin), 0, kMostIterations);
    measured.work = at(work, begin);
    for (const ValueByStep& of_rank : wrong) measured.wrong += bounded(at(of_rank, begin), 0, kMostWrong);
    measured.batch_times = batches(times, begin, next == operations.end() ? kNoStep : next->first);
    if (!measured.batch_times.empty()) measurements.push_back(std::move(measured));
  }
  return measurements;
}

}  // namespace ddbench::analyzer
