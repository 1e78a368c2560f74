#include "analyzer/attribution/communicators.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/name_table.h"

namespace ddbench::analyzer {
namespace {

constexpr unsigned kSequenceBits = 48;  // collective_key()

}  // namespace

std::uint16_t CommunicatorMembers::number_of(std::uint64_t correlation) noexcept {
  return static_cast<std::uint16_t>(correlation >> kSequenceBits);
}

void CommunicatorMembers::add(std::uint64_t correlation, std::size_t rank, std::int64_t begin_ns) {
  Seen& seen = communicators_[number_of(correlation)];
  if (seen.ranks.empty() || *seen.ranks.begin() == rank) seen.first_ns = std::min(seen.first_ns, begin_ns);
  seen.ranks.insert(rank);
  seen_.insert(rank);
}

void CommunicatorMembers::add_names(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (const auto size = parse_communicator_size(name)) communicators_[size->communicator].sizes.insert(size->ranks);
  }
}

std::size_t CommunicatorMembers::expected(std::uint64_t correlation) const {
  const auto found = communicators_.find(number_of(correlation));
  if (found == communicators_.end()) return ranks_ - seen_.size();
  const Seen& seen = found->second;
  const auto size = static_cast<std::size_t>(size_of(seen));
  if (size == 0) return seen.ranks.size() + ranks_ - seen_.size();
  return seen.ranks.size() > size ? 0 : size;
}

store::CommunicatorRecord CommunicatorMembers::record(std::uint16_t communicator,
                                                      std::span<const int> run_ranks) const {
  store::CommunicatorRecord record;
  const auto found = communicators_.find(communicator);
  if (found == communicators_.end()) return record;
  const Seen& seen = found->second;
  record.ranks = size_of(seen);
  if (seen.ranks.size() < run_ranks.size()) {
    std::vector<int> members;
    for (const std::size_t rank : seen.ranks) members.push_back(run_ranks[rank]);
    record.members = ranks_in_words(members);
  }
  for (const auto& [number, other] : communicators_) {
    const bool is_like = other.ranks == seen.ranks && size_of(other) == record.ranks;
    record.place += is_like && std::pair(other.first_ns, number) < std::pair(seen.first_ns, communicator);
  }
  return record;
}

std::string ranks_in_words(std::span<const int> ascending) {
  std::string text;
  for (std::size_t from = 0; from < ascending.size();) {
    std::size_t last = std::min(from + 1, ascending.size() - 1);
    const int distance = ascending[last] - ascending[from];
    while (last + 1 < ascending.size() && ascending[last + 1] - ascending[last] == distance) ++last;
    // Two numbers with others between them are no series.
    if (last == from + 1 && distance != 1) last = from;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[from]);
    if (last != from) text += fmt::format("-{}", ascending[last]);
    if (last != from && distance != 1) text += fmt::format(" by {}", distance);
    from = last + 1;
  }
  return text;
}

}  // namespace ddbench::analyzer
