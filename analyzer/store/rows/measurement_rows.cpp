// The tables rank, step, collective, kernel and step_value.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/store/rows/run_store_impl.h"
#include "analyzer/store/sqlite/row_insertion.h"
#include "core/span_limits.h"

namespace ddbench::store {
namespace {

using Columns = std::vector<std::string>;

const Columns kRankColumns = {"rank",
                              "local_rank",
                              "node",
                              "host",
                              "pid",
                              "cores",
                              "clock_start_at_ns",
                              "clock_start_offset_ns",
                              "clock_start_uncertainty_ns",
                              "clock_end_at_ns",
                              "clock_end_offset_ns",
                              "clock_end_uncertainty_ns",
                              "clock_shared",
                              "dropped_spans",
                              "peak_memory_bytes",
                              "parameter_hash",
                              "outcome"};
const Columns kStepColumns = {"step",
                              "rank",
                              "begin_ns",
                              "duration_ns",
                              "probes_on",
                              "forward_ns",
                              "backward_ns",
                              "optimizer_ns",
                              "other_compute_ns",
                              "cpu_wait_ns",
                              "exposed_transfer_ns",
                              "exposed_peer_wait_ns",
                              "copy_ns",
                              "data_wait_ns",
                              "host_ns",
                              "idle_ns",
                              "communication_ns",
                              "overlap_ns",
                              "peer_wait_ns",
                              "peer_wait_uncertainty_ns",
                              "loss"};
const Columns kCollectiveColumns = {"function",    "bucket",      "bytes",        "count",
                                    "transfer_ns", "duration_ns", "peer_wait_ns", "peer_wait_resolved",
                                    "manner",      "transfer_uncertainty_ns", "peer_wait_uncertainty_ns",
                                    "communicator_ranks", "communicator_members", "communicator_place"};
const Columns kKernelColumns = {"name", "kind", "count", "total_ns", "max_ns"};

/// The parameters of a row are run_key, then `columns`, then the id of the run.
RowInsertion insertion(const char* table, const Columns& columns) {
  Columns all = {"run_key"};
  all.insert(all.end(), columns.begin(), columns.end());
  return RowInsertion("INSERT OR REPLACE", table, all);
}

Columns with_position(Columns columns) {
  columns.insert(columns.begin(), "position");
  return columns;
}

// Composed once, and not before they are used.
const RowInsertion& insert_ranks() {
  static const RowInsertion ranks = insertion("rank", kRankColumns);
  return ranks;
}

const RowInsertion& insert_steps() {
  static const RowInsertion steps = insertion("step", kStepColumns);
  return steps;
}

std::string select_sql(const char* table, const Columns& columns, const char* order) {
  return fmt::format("SELECT {}, run_key FROM {} WHERE run_key BETWEEN ? AND ? ORDER BY run_key, {}",
                     fmt::join(columns, ", "), table, order);
}

// Composed once: a store of imported runs is read with them 200,000 times.
const std::string kSelectRanks = select_sql("rank", kRankColumns, "rank");
const std::string kSelectSteps = select_sql("step", kStepColumns, "step, rank");
const std::string kSelectCollectives = select_sql("collective", kCollectiveColumns, "position");
const std::string kSelectKernels = select_sql("kernel", kKernelColumns, "position");

// A store may come from anybody, and `db check` names what was changed: here, sums of times must only be possible.
void limit(std::int64_t& time_ns) {
  time_ns = std::clamp(time_ns, -kLatest_ns, kLatest_ns);
}

void limit_length(std::int64_t& length_ns) {
  length_ns = std::clamp<std::int64_t>(length_ns, 0, kLatest_ns);
}

void limit_step(std::uint32_t& step) {
  step = std::min(step, kLastStep);
}

void limit_rank(int& number, int first = 0) {
  number = std::clamp(number, first, kMostRanks - 1);
}

void limit(ClockReading& reading) {
  limit(reading.at_ns);
  reading.offset_ns = std::clamp(reading.offset_ns, -2 * kLatest_ns, 2 * kLatest_ns);
  reading.uncertainty_ns = std::clamp<std::int64_t>(reading.uncertainty_ns, 0, 2 * kLatest_ns);
}

void read_row(const Statement& row, RankRecord& r) {
  ClockReading& start = r.clock.start;
  ClockReading& end = r.clock.end;
  row.read(r.rank, r.local_rank, r.node, r.host, r.pid, r.cores, start.at_ns, start.offset_ns,
           start.uncertainty_ns, end.at_ns, end.offset_ns, end.uncertainty_ns, r.clock.shared_clock,
           r.dropped_spans, r.peak_memory_bytes, r.parameter_hash, r.outcome);
  limit_rank(r.rank);
  limit_rank(r.local_rank, -1);
  limit_rank(r.node);
  limit(start);
  limit(end);
}

void read_row(const Statement& row, StepRecord& s) {
  std::apply(
      [&](auto&... parts) {
        row.read(s.step, s.rank, s.begin_ns, s.duration_ns, s.probes_on, parts..., s.communication_ns,
                 s.overlap_ns, s.peer_wait_ns, s.peer_wait_uncertainty_ns, s.loss);
      },
      s.partition.ns);
  limit_step(s.step);
  limit_rank(s.rank);
  limit(s.begin_ns);
  for (std::int64_t* const length_ns : {&s.duration_ns, &s.communication_ns, &s.overlap_ns, &s.peer_wait_ns, &s.peer_wait_uncertainty_ns})
    limit_length(*length_ns);
  for (std::int64_t& part_ns : s.partition.ns) limit_length(part_ns);
}

void read_row(const Statement& row, CollectiveRecord& c) {
  row.read(c.function, c.bucket, c.bytes, c.count, c.transfer_ns, c.duration_ns, c.peer_wait_ns,
           c.peer_wait_resolved, c.nccl_algorithm, c.transfer_uncertainty_ns, c.peer_wait_uncertainty_ns,
           c.communicator.ranks, c.communicator.members, c.communicator.place);
  for (std::int64_t* const time_ns :
       {&c.transfer_ns, &c.duration_ns, &c.peer_wait_ns, &c.transfer_uncertainty_ns, &c.peer_wait_uncertainty_ns})
    limit(*time_ns);
  c.communicator.ranks = std::clamp(c.communicator.ranks, 0, kMostRanks);
  c.communicator.place = std::clamp(c.communicator.place, 0, kMostRanks);
}

void read_row(const Statement& row, KernelRecord& k) {
  row.read(k.name, k.kind, k.count, k.total_ns, k.max_ns);
}

/// Runs whose keys lie side by side.
struct KeyRange {
  std::int64_t first;
  std::int64_t last;
};

/// `take` gets each row's run_key and returns where to put the row; null leaves it out.
template <typename Record, typename Take>
void read_rows(const Database& database, const std::string& sql, KeyRange keys, Take&& take) {
  Statement rows = database.prepare(sql);
  rows.bind(keys.first, keys.last);
  const int key_column = rows.columns() - 1;
  while (rows.step()) {
    if (std::vector<Record>* records = take(rows.integer(key_column)))
      read_row(rows, records->emplace_back());
  }
}

template <typename Record>
std::vector<Record> rows_of_run(const Database& database, const std::string& sql, std::int64_t key) {
  std::vector<Record> records;
  read_rows<Record>(database, sql, {key, key}, [&](std::int64_t) { return &records; });
  return records;
}

void read_clocks(const Database& database, std::int64_t key, std::vector<RankRecord>& ranks) {
  Statement rows = database.prepare(
      "SELECT rank, at_ns, offset_ns, uncertainty_ns FROM clock_reading WHERE run_key = ? ORDER BY rank, position");
  rows.bind(key);
  auto record = ranks.begin();
  while (rows.step()) {
    int rank = 0;
    ClockReading reading;
    rows.read(rank, reading.at_ns, reading.offset_ns, reading.uncertainty_ns);
    limit_rank(rank);
    limit(reading);
    while (record != ranks.end() && record->rank < rank) ++record;
    if (record != ranks.end() && record->rank == rank) record->clock.between.push_back(reading);
  }
}

/// A run as the rows of the other tables name it.
struct RunKey {
  std::int64_t key;
  const RunId& id;
};

void bind(RowValues& values, const RunKey& run, const RankRecord& r) {
  const ClockReading& start = r.clock.start;
  const ClockReading& end = r.clock.end;
  values(run.key, r.rank, r.local_rank, r.node, r.host, r.pid, r.cores, start.at_ns, start.offset_ns, start.uncertainty_ns,
         end.at_ns, end.offset_ns, end.uncertainty_ns, r.clock.shared_clock, r.dropped_spans, r.peak_memory_bytes, r.parameter_hash,
         r.outcome, run.id);
}

void bind(RowValues& values, const RunKey& run, const StepRecord& s) {
  std::apply(
      [&](const auto&... parts) {
        values(run.key, s.step, s.rank, s.begin_ns, s.duration_ns, s.probes_on, parts..., s.communication_ns, s.overlap_ns, s.peer_wait_ns,
               s.peer_wait_uncertainty_ns, s.loss, run.id);
      },
      s.partition.ns);
}

void insert_clocks(const Database& database, const RunKey& run, const RankRecord& rank) {
  std::int64_t position = 0;
  static const RowInsertion readings = insertion("clock_reading", {"rank", "position", "at_ns", "offset_ns", "uncertainty_ns"});
  readings.insert(database, std::span(rank.clock.between), [&](RowValues& values, const ClockReading& reading) {
    values(run.key, rank.rank, position++, reading.at_ns, reading.offset_ns, reading.uncertainty_ns, run.id);
  });
}

/// Inserts the records `of` each run.
template <typename Record>
void insert_all(const Database& database, const RowInsertion& insertion, std::int64_t first_key, std::span<const CompleteRun> runs,
                std::span<const Record> CompleteRun::*of) {
  struct Row {
    RunKey run;
    const Record& record;
  };
  std::vector<Row> rows;
  for (std::int64_t key = first_key; const CompleteRun& complete : runs) {
    for (const Record& record : complete.*of) rows.push_back({{key, complete.run.id}, record});
    ++key;
  }
  insertion.insert(database, std::span<const Row>(rows), [](RowValues& values, const Row& row) { bind(values, row.run, row.record); });
}

// The tables of summaries are written as a whole, in the order of the list.
template <typename Record, typename BindAt>
void replace_list(const Database& database, std::int64_t key, const char* table, const RowInsertion& insertion,
                  std::span<const Record> records, BindAt&& bind_at) {
  database.prepare(fmt::format("DELETE FROM {} WHERE run_key = ?", table)).bind(key).run();
  std::int64_t position = 0;
  insertion.insert(database, records, [&](RowValues& values, const Record& record) { bind_at(values, position++, record); });
}

}  // namespace

void RunStore::Impl::insert_measurements(std::int64_t first_key, std::span<const CompleteRun> runs) const {
  insert_all(database, insert_ranks(), first_key, runs, &CompleteRun::ranks);
  insert_all(database, insert_steps(), first_key, runs, &CompleteRun::steps);
  for (std::int64_t key = first_key; const CompleteRun& complete : runs) {
    for (const RankRecord& rank : complete.ranks) insert_clocks(database, {key, complete.run.id}, rank);
    ++key;
  }
}

void RunStore::put_ranks(const RunId& id, std::span<const RankRecord> ranks) {
  Transaction transaction(impl_->database);
  const RunKey run{impl_->run_key_to_write(id), id};
  insert_ranks().insert(impl_->database, ranks, [&](RowValues& values, const RankRecord& rank) { bind(values, run, rank); });
  for (const RankRecord& rank : ranks) {
    impl_->database.prepare("DELETE FROM clock_reading WHERE run_key = ? AND rank = ?").bind(run.key, rank.rank).run();
    insert_clocks(impl_->database, run, rank);
  }
  transaction.commit();
}

std::vector<RankRecord> RunStore::ranks(const RunId& id) const {
  const std::int64_t key = impl_->run_key(id);
  std::vector<RankRecord> ranks = rows_of_run<RankRecord>(impl_->database, kSelectRanks, key);
  read_clocks(impl_->database, key, ranks);
  return ranks;
}

void RunStore::put_steps(const RunId& id, std::span<const StepRecord> steps) {
  Transaction transaction(impl_->database);
  const RunKey run{impl_->run_key_to_write(id), id};
  insert_steps().insert(impl_->database, steps, [&](RowValues& values, const StepRecord& step) { bind(values, run, step); });
  transaction.commit();
}

std::vector<StepRecord> RunStore::steps(const RunId& id) const {
  return rows_of_run<StepRecord>(impl_->database, kSelectSteps, impl_->run_key(id));
}

void RunStore::visit_steps(const RunId& id, const std::function<void(const StepRecord&)>& visit) const {
  const std::int64_t key = impl_->run_key(id);
  Statement rows = impl_->database.prepare(kSelectSteps);
  rows.bind(key, key);
  StepRecord step;
  while (rows.step()) {
    read_row(rows, step);
    visit(step);
  }
}

void RunStore::put_collectives(const RunId& id, std::span<const CollectiveRecord> collectives) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key_to_write(id);
  static const RowInsertion rows = insertion("collective", with_position(kCollectiveColumns));
  replace_list(impl_->database, key, "collective", rows, collectives,
               [&](RowValues& values, std::int64_t position, const CollectiveRecord& c) {
                 values(key, position, c.function, c.bucket, c.bytes, c.count, c.transfer_ns, c.duration_ns, c.peer_wait_ns,
                        c.peer_wait_resolved, c.nccl_algorithm, c.transfer_uncertainty_ns, c.peer_wait_uncertainty_ns,
                        c.communicator.ranks, c.communicator.members, c.communicator.place, id);
               });
  transaction.commit();
}

std::vector<CollectiveRecord> RunStore::collectives(const RunId& id) const {
  return rows_of_run<CollectiveRecord>(impl_->database, kSelectCollectives, impl_->run_key(id));
}

void RunStore::put_kernels(const RunId& id, std::span<const KernelRecord> kernels) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key_to_write(id);
  static const RowInsertion rows = insertion("kernel", with_position(kKernelColumns));
  replace_list(impl_->database, key, "kernel", rows, kernels,
               [&](RowValues& values, std::int64_t position, const KernelRecord& k) {
                 values(key, position, k.name, k.kind, k.count, k.total_ns, k.max_ns, id);
               });
  transaction.commit();
}

std::vector<KernelRecord> RunStore::kernels(const RunId& id) const {
  return rows_of_run<KernelRecord>(impl_->database, kSelectKernels, impl_->run_key(id));
}

std::vector<RunRows> RunStore::rows(std::span<const RunId> ids) const {
  std::map<std::int64_t, RunRows*> places;
  std::vector<RunRows> all(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) places[impl_->run_key(ids[i])] = &all[i];
  // Most runs of a store are read in one pass; a few of many one by one.
  std::vector<KeyRange> ranges;
  if (!places.empty()) ranges.push_back({places.begin()->first, places.rbegin()->first});
  const std::uint64_t extent =
      ranges.empty() ? 0 : static_cast<std::uint64_t>(ranges.front().last) - static_cast<std::uint64_t>(ranges.front().first);
  if (extent / 2 > places.size()) {
    ranges.clear();
    for (const auto& [key, rows] : places) ranges.push_back({key, key});
  }
  const auto read_into = [&]<typename Record>(std::vector<Record> RunRows::*member, const std::string& sql) {
    for (const KeyRange& range : ranges) {
      read_rows<Record>(impl_->database, sql, range, [&](std::int64_t key) {
        const auto place = places.find(key);
        return place == places.end() ? nullptr : &(place->second->*member);
      });
    }
  };
  read_into(&RunRows::ranks, kSelectRanks);
  for (const auto& [key, rows] : places) read_clocks(impl_->database, key, rows->ranks);
  read_into(&RunRows::steps, kSelectSteps);
  read_into(&RunRows::collectives, kSelectCollectives);
  read_into(&RunRows::kernels, kSelectKernels);
  return all;
}

void RunStore::append_step_values(const RunId& id, int rank, std::string_view name,
                                  std::span<const std::pair<std::uint32_t, double>> step_values) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key_to_write(id);
  static const RowInsertion values_of_steps = insertion("step_value", {"rank", "name", "step", "value"});
  values_of_steps.insert(impl_->database, step_values, [&](RowValues& values, const std::pair<std::uint32_t, double>& step_value) {
    values(key, rank, name, step_value.first, step_value.second, id);
  });
  transaction.commit();
}

std::vector<std::pair<std::uint32_t, double>> RunStore::step_values(const RunId& id, int rank, std::string_view name,
                                                                    std::uint32_t first_step,
                                                                    std::uint32_t last_step) const {
  Statement statement = impl_->database.prepare(
      "SELECT step, value FROM step_value WHERE run_key = ? AND rank = ? AND name = ? AND step BETWEEN ? AND ? "
      "ORDER BY step");
  statement.bind(impl_->run_key(id), rank, name, first_step, last_step);
  std::vector<std::pair<std::uint32_t, double>> step_values;
  while (statement.step()) {
    auto& [step, value] = step_values.emplace_back();
    statement.read(step, value);
    if (step != kNoStep) limit_step(step);
  }
  return step_values;
}

}  // namespace ddbench::store
