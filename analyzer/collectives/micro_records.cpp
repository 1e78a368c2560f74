#include "analyzer/collectives/micro_records.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "analyzer/collectives/micro_table.h"
#include "core/bounded.h"
#include "core/error.h"

namespace ddbench::analyzer {
namespace {

store::CollectiveRecord record_of(const MicroRow& row, int ranks) {
  const MicroTiming& timing = row.usual();
  store::CollectiveRecord record;
  record.function = to_string(row.operation);
  record.communicator.ranks = ranks;
  record.bytes = static_cast<std::uint64_t>(row.bytes);
  record.count = static_cast<std::uint64_t>(timing.iterations);
  constexpr std::int64_t kLongest_ns = std::numeric_limits<std::int64_t>::max();
  record.transfer_ns = record.duration_ns = bounded(std::round(timing.time_ns), 0, kLongest_ns);
  record.peer_wait_resolved = false;  // a batch has no arrivals
  return record;
}

std::string wrong_results(const MicroTable& table) {
  for (const MicroRow& row : table.rows) {
    const std::int64_t wrong =
        (row.in_place ? row.in_place->wrong : 0) + (row.out_of_place ? row.out_of_place->wrong : 0);
    if (wrong == 0) continue;
    return fmt::format("{} of {} bytes gave {} wrong elements: the backend's results cannot be trusted",
                       to_string(row.operation), row.bytes, wrong);
  }
  return {};
}

}  // namespace

void finalize_micro_run(store::RunStore& store, store::RunRecord run) {
  std::vector<store::CollectiveRecord> records;
  std::string reason;
  try {
    const MicroTable table = micro_table(store, run);
    for (const MicroRow& row : table.rows) records.push_back(record_of(row, table.ranks));
    reason = wrong_results(table);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    reason = error.message();
  }
  store.put_collectives(run.id, records);
  if (!reason.empty()) {
    run.valid = false;
    run.invalid_reason = std::move(reason);
  }
  store.update_run(run);
}

}  // namespace ddbench::analyzer
