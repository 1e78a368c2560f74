#include "analyzer/collectives/micro_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/collectives/bus_factor.h"
#include "analyzer/collectives/micro_values.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {
namespace {

constexpr std::array<std::string_view, kMicroOperationCount> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "gemm", "copy"};
constexpr std::int64_t kElementBytes = 4;

MicroTiming timing_of(const MicroMeasurement& measured, int ranks) {
  MicroTiming timing;
  for (const std::vector<double>& of_ranks : measured.batch_times)
    timing.batches_ns.push_back(mean(of_ranks));
  timing.time_ns = median(timing.batches_ns);
  timing.iterations = measured.iterations * static_cast<std::int64_t>(measured.batch_times.size());
  timing.algbw_gb_per_s = static_cast<double>(measured.bytes) / timing.time_ns;
  timing.busbw_gb_per_s = timing.algbw_gb_per_s * bus_factor(to_string(measured.operation), ranks);
  timing.wrong = measured.wrong;
  return timing;
}

/// Reductions have an operator, the broadcast has a root; `count` is the one that nccl-tests pass to the
/// call.
MicroRow row_of(const MicroMeasurement& measured, int ranks) {
  MicroRow row;
  row.operation = measured.operation;
  row.bytes = measured.bytes;
  const bool whole =
      row.operation == MicroOperation::kAllReduce || row.operation == MicroOperation::kBroadcast;
  row.count = row.bytes / kElementBytes / (whole ? 1 : ranks);
  const bool sums =
      row.operation == MicroOperation::kAllReduce || row.operation == MicroOperation::kReduceScatter;
  row.redop = sums ? "sum" : "none";
  row.root = row.operation == MicroOperation::kBroadcast ? 0 : -1;
  return row;
}

void add_collective(const MicroMeasurement& measured, MicroTable& table) {
  const auto same = [&](const MicroRow& row) {
    return row.operation == measured.operation && row.bytes == measured.bytes;
  };
  auto row = std::find_if(table.rows.begin(), table.rows.end(), same);
  if (row == table.rows.end()) row = table.rows.insert(row, row_of(measured, table.ranks));
  (measured.in_place ? row->in_place : row->out_of_place) = timing_of(measured, table.ranks);
  table.wrong += measured.wrong;
}

/// The best of several sizes is the ceiling.
void add_ceiling(const MicroMeasurement& measured, MicroTable& table) {
  std::vector<double> time_of_rank(static_cast<std::size_t>(table.ranks));
  for (std::size_t rank = 0; rank < time_of_rank.size(); ++rank) {
    std::vector<double> batches;
    for (const std::vector<double>& of_ranks : measured.batch_times) batches.push_back(of_ranks[rank]);
    time_of_rank[rank] = median(batches);
  }
  MicroCeiling ceiling{measured.operation, 0, 0};
  for (const double time_ns : time_of_rank) ceiling.per_second += measured.work * 1e9 / time_ns / table.ranks;
  ceiling.slowest_per_second =
      measured.work * 1e9 / *std::max_element(time_of_rank.begin(), time_of_rank.end());
  const auto same = std::find_if(table.ceilings.begin(), table.ceilings.end(),
                                 [&](const auto& other) { return other.operation == measured.operation; });
  if (same == table.ceilings.end()) {
    table.ceilings.push_back(ceiling);
  } else if (ceiling.per_second > same->per_second) {
    *same = ceiling;
  }
}

void add_fits(MicroTable& table) {
  std::vector<TimedSize> points;
  for (const MicroRow& row : table.rows) {
    points.push_back(
        {std::string(to_string(row.operation)), static_cast<double>(row.bytes), row.usual().batches_ns});
  }
  if (!points.empty() && table.ranks > 1) table.fits = fit_alpha_beta(points, table.ranks);
}

void add_notes(MicroTable& table) {
  if (table.run.state != store::RunState::kDone) {
    table.notes.push_back(fmt::format("the run {}: {}. What was measured before is shown",
                                      store::to_string(table.run.state), table.run.reason));
  }
  if (table.wrong > 0)
    table.notes.push_back(
        fmt::format("{} elements of results are wrong: the times must not be used", table.wrong));
  if (table.run.provenance.has(Provenance::kOversubscribed))
    table.notes.push_back("more ranks than cores: times hold the waiting for a core too");
  const bool copies = std::any_of(table.rows.begin(), table.rows.end(), [](const MicroRow& row) {
    return row.out_of_place && row.in_place &&
           (row.operation == MicroOperation::kAllReduce || row.operation == MicroOperation::kBroadcast);
  });
  if (copies) {
    table.notes.push_back(
        "out of place, all_reduce and broadcast are a copy and the collective in place: the backend has no "
        "other way");
  }
}

}  // namespace

std::string_view to_string(MicroOperation operation) noexcept {
  return kNames[static_cast<std::size_t>(operation)];
}

MicroOperation micro_operation_from(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found != kNames.end()) return static_cast<MicroOperation>(found - kNames.begin());
  throw Error(ErrorCode::kBadInput,
              fmt::format("\"{}\" is no operation; there are {}", text, fmt::join(kNames, ", ")));
}

MicroTable micro_table(const store::RunStore& store, const store::RunRecord& run) {
  if (!is_micro(run.run_case)) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} trained {}: it is none of `ddbench micro`", run.id,
                                                  work_name(run.run_case.work)));
  }
  MicroTable table;
  table.run = run;
  table.ranks = run.run_case.world_size();
  for (const MicroMeasurement& measured : micro_measurements(store, run)) {
    is_collective(measured.operation) ? add_collective(measured, table) : add_ceiling(measured, table);
  }
  if (table.rows.empty() && table.ceilings.empty()) {
    throw Error(ErrorCode::kBadInput, fmt::format("run {} stored no measurement{}{}", run.id,
                                                  run.reason.empty() ? "" : ": ", run.reason));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const MicroRow& a, const MicroRow& b) {
    return std::pair(a.operation, a.bytes) < std::pair(b.operation, b.bytes);
  });
  add_fits(table);
  add_notes(table);
  return table;
}

}  // namespace ddbench::analyzer
