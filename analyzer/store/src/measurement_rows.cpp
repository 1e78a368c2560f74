// The tables rank, step, collective, kernel and step_value.
#include <fmt/format.h>

#include "run_store_impl.h"

namespace ddbench::store {
namespace {

constexpr const char* kRankColumns =
    "rank, local_rank, node, host, pid, cores, clock_start_at_ns, clock_start_offset_ns, "
    "clock_start_uncertainty_ns, "
    "clock_end_at_ns, clock_end_offset_ns, clock_end_uncertainty_ns, clock_shared, dropped_spans, "
    "peak_memory_bytes, "
    "parameter_hash, outcome";
constexpr const char* kStepColumns =
    "step, rank, begin_ns, duration_ns, probes_on, forward_ns, backward_ns, optimizer_ns, other_compute_ns, "
    "exposed_transfer_ns, exposed_peer_wait_ns, copy_ns, data_wait_ns, host_ns, idle_ns, communication_ns, "
    "overlap_ns, "
    "peer_wait_ns, loss";
constexpr const char* kCollectiveColumns =
    "function, bucket, bytes, count, transfer_ns, duration_ns, peer_wait_ns, peer_wait_resolved, manner";
constexpr const char* kKernelColumns = "name, kind, count, total_ns, max_ns";

std::string insert_sql(const char* table, std::string_view columns) {
  std::string marks;
  for (const char c : columns) {
    if (c == ',') marks += ", ?";
  }
  return fmt::format("INSERT OR REPLACE INTO {} (run_key, {}) VALUES (?, ?{})", table, columns, marks);
}

std::string select_sql(const char* table, const char* columns, const char* order) {
  return fmt::format("SELECT {} FROM {} WHERE run_key = ? ORDER BY {}", columns, table, order);
}

// The tables of summaries are written as a whole, in the order of the list.
template <typename Record, typename Bind>
void replace_list(const Database& database, std::int64_t key, const char* table, const char* columns,
                  std::span<const Record> records, Bind&& bind) {
  database.prepare(fmt::format("DELETE FROM {} WHERE run_key = ?", table)).bind(key).run();
  Statement statement = database.prepare(insert_sql(table, fmt::format("position, {}", columns)));
  std::int64_t position = 0;
  for (const Record& record : records) {
    bind(statement, position++, record);
    statement.run();
  }
}

template <typename Record, typename Read>
std::vector<Record> read_list(Statement statement, std::int64_t key, Read&& read) {
  std::vector<Record> records;
  statement.bind(key);
  while (statement.step()) read(statement, records.emplace_back());
  return records;
}

}  // namespace

void RunStore::put_ranks(const RunId& id, std::span<const RankRecord> ranks) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key(id);
  Statement statement = impl_->database.prepare(insert_sql("rank", kRankColumns));
  for (const RankRecord& r : ranks) {
    const ClockReading& start = r.clock.start;
    const ClockReading& end = r.clock.end;
    statement
        .bind(key, r.rank, r.local_rank, r.node, r.host, r.pid, r.cores, start.at_ns, start.offset_ns,
              start.uncertainty_ns, end.at_ns, end.offset_ns, end.uncertainty_ns, r.clock.shared_clock,
              r.dropped_spans, r.peak_memory_bytes, r.parameter_hash, r.outcome)
        .run();
  }
  transaction.commit();
}

std::vector<RankRecord> RunStore::ranks(const RunId& id) const {
  Statement statement = impl_->database.prepare(select_sql("rank", kRankColumns, "rank"));
  return read_list<RankRecord>(
      std::move(statement), impl_->run_key(id), [](const Statement& row, RankRecord& r) {
        ClockReading& start = r.clock.start;
        ClockReading& end = r.clock.end;
        row.read(r.rank, r.local_rank, r.node, r.host, r.pid, r.cores, start.at_ns, start.offset_ns,
                 start.uncertainty_ns, end.at_ns, end.offset_ns, end.uncertainty_ns, r.clock.shared_clock,
                 r.dropped_spans, r.peak_memory_bytes, r.parameter_hash, r.outcome);
      });
}

void RunStore::put_steps(const RunId& id, std::span<const StepRecord> steps) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key(id);
  Statement statement = impl_->database.prepare(insert_sql("step", kStepColumns));
  for (const StepRecord& s : steps) {
    std::apply(
        [&](const auto&... parts) {
          statement.bind(key, s.step, s.rank, s.begin_ns, s.duration_ns, s.probes_on, parts...,
                         s.communication_ns, s.overlap_ns, s.peer_wait_ns, s.loss);
        },
        s.partition.ns);
    statement.run();
  }
  transaction.commit();
}

std::vector<StepRecord> RunStore::steps(const RunId& id) const {
  Statement statement = impl_->database.prepare(select_sql("step", kStepColumns, "step, rank"));
  return read_list<StepRecord>(
      std::move(statement), impl_->run_key(id), [](const Statement& row, StepRecord& s) {
        std::apply(
            [&](auto&... parts) {
              row.read(s.step, s.rank, s.begin_ns, s.duration_ns, s.probes_on, parts..., s.communication_ns,
                       s.overlap_ns, s.peer_wait_ns, s.loss);
            },
            s.partition.ns);
      });
}

void RunStore::put_collectives(const RunId& id, std::span<const CollectiveRecord> collectives) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key(id);
  replace_list(impl_->database, key, "collective", kCollectiveColumns, collectives,
               [&](Statement& statement, std::int64_t position, const CollectiveRecord& c) {
                 statement.bind(key, position, c.function, c.bucket, c.bytes, c.count, c.transfer_ns,
                                c.duration_ns, c.peer_wait_ns, c.peer_wait_resolved, c.manner);
               });
  transaction.commit();
}

std::vector<CollectiveRecord> RunStore::collectives(const RunId& id) const {
  Statement statement = impl_->database.prepare(select_sql("collective", kCollectiveColumns, "position"));
  return read_list<CollectiveRecord>(std::move(statement), impl_->run_key(id),
                                     [](const Statement& row, CollectiveRecord& c) {
                                       row.read(c.function, c.bucket, c.bytes, c.count, c.transfer_ns,
                                                c.duration_ns, c.peer_wait_ns, c.peer_wait_resolved, c.manner);
                                     });
}

void RunStore::put_kernels(const RunId& id, std::span<const KernelRecord> kernels) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key(id);
  replace_list(impl_->database, key, "kernel", kKernelColumns, kernels,
               [&](Statement& statement, std::int64_t position, const KernelRecord& k) {
                 statement.bind(key, position, k.name, k.kind, k.count, k.total_ns, k.max_ns);
               });
  transaction.commit();
}

std::vector<KernelRecord> RunStore::kernels(const RunId& id) const {
  Statement statement = impl_->database.prepare(select_sql("kernel", kKernelColumns, "position"));
  return read_list<KernelRecord>(
      std::move(statement), impl_->run_key(id),
      [](const Statement& row, KernelRecord& k) { row.read(k.name, k.kind, k.count, k.total_ns, k.max_ns); });
}

void RunStore::append_step_values(const RunId& id, int rank, std::string_view name,
                                  std::span<const std::pair<std::uint32_t, double>> step_values) {
  Transaction transaction(impl_->database);
  const std::int64_t key = impl_->run_key(id);
  Statement statement = impl_->database.prepare(insert_sql("step_value", "rank, name, step, value"));
  for (const auto& [step, value] : step_values) statement.bind(key, rank, name, step, value).run();
  transaction.commit();
}

std::vector<std::pair<std::uint32_t, double>> RunStore::step_values(const RunId& id, int rank,
                                                                    std::string_view name) const {
  Statement statement = impl_->database.prepare(
      "SELECT step, value FROM step_value WHERE run_key = ? AND rank = ? AND name = ? ORDER BY step");
  statement.bind(impl_->run_key(id), rank, name);
  std::vector<std::pair<std::uint32_t, double>> step_values;
  while (statement.step()) {
    auto& [step, value] = step_values.emplace_back();
    statement.read(step, value);
  }
  return step_values;
}

}  // namespace ddbench::store
