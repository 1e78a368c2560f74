#include "analyzer/attribution/collective_totals.h"

#include <algorithm>
#include <string_view>

namespace ddbench::analyzer {

void CollectiveTotals::add_collective(const CollectiveKind& kind, std::int64_t transfer_ns,
                                      std::int64_t uncertainty_ns) {
  Totals& totals = totals_[kind];
  ++totals.count;
  totals.transfer_ns.add(transfer_ns);
  totals.transfer_uncertainty_ns.add(uncertainty_ns);
}

void CollectiveTotals::add_share_of_rank(const CollectiveKind& kind, std::int64_t duration_ns,
                                         std::int64_t peer_wait_ns, std::int64_t uncertainty_ns) {
  Totals& totals = totals_[kind];
  totals.duration_ns.add(duration_ns);
  totals.peer_wait_ns.add(peer_wait_ns);
  totals.uncertainty_ns.add(uncertainty_ns);
}

std::vector<store::CollectiveRecord> CollectiveTotals::records(
    const std::function<store::CommunicatorRecord(std::uint16_t)>& communicator_of) const {
  std::vector<store::CollectiveRecord> records;
  for (const auto& [kind, totals] : totals_) {
    store::CollectiveRecord record;
    record.function = kind.function;
    record.bucket = kind.bucket;
    record.bytes = kind.bytes;
    record.communicator = communicator_of(kind.communicator);
    record.count = totals.count;
    record.transfer_ns = totals.transfer_ns.median();
    record.duration_ns = totals.duration_ns.median();
    record.peer_wait_ns = totals.peer_wait_ns.median();
    record.transfer_uncertainty_ns = totals.transfer_uncertainty_ns.median();
    record.peer_wait_uncertainty_ns = totals.uncertainty_ns.median();
    record.peer_wait_resolved = clocks_known_ && record.peer_wait_ns >= totals.uncertainty_ns.median();
    records.push_back(std::move(record));
  }
  const auto order = [](const store::CollectiveRecord& row) {
    return std::tuple(std::string_view(row.function), row.bucket, row.bytes, -row.communicator.ranks,
                      std::string_view(row.communicator.members), row.communicator.place);
  };
  std::sort(records.begin(), records.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return records;
}

}  // namespace ddbench::analyzer
