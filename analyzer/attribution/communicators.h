#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// Which ranks use which communicator, according to the recorded spans, and the sizes that ranks report
/// (core/name_table.h). A communicator is identified by the number in collective_key().
class CommunicatorMembers {
 public:
  explicit CommunicatorMembers(std::size_t ranks) : ranks_(ranks) {}
  /// A rank began this collective at `begin_ns` of its own clock.
  void add(std::uint64_t correlation, std::size_t rank, std::int64_t begin_ns);
  /// The names that a rank interned; some of them state sizes.
  void add_names(std::span<const std::string> names);

  /// The number of ranks that a collective needs to be complete: the size of its communicator if known, else
  /// the number of ranks seen to use it. A rank that never took part in any collective may belong to each.
  /// Returns 0, which no collective has, if more ranks use the number than the communicator has: then
  /// communicators on different ranks share the number, and their collectives cannot be distinguished.
  std::size_t expected(std::uint64_t correlation) const;

  static std::uint16_t number_of(std::uint64_t correlation) noexcept;
  /// The stored row of a communicator; call it after all ranks were added. `run_ranks`: the numbers of the
  /// ranks in the run, ascending.
  store::CommunicatorRecord record(std::uint16_t communicator, std::span<const int> run_ranks) const;

 private:
  struct Seen {
    std::set<std::size_t> ranks;
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();  ///< on the clock of the first of the ranks
    std::set<int> sizes;                                               ///< as reported
  };
  int size_of(const Seen& seen) const noexcept { return seen.sizes.size() == 1 ? *seen.sizes.begin() : 0; }

  std::size_t ranks_;
  std::map<std::uint16_t, Seen> communicators_;
  std::set<std::size_t> seen_;
};

/// "0-3,8", "0-6 by 2": ascending numbers, at least three with the same distance drawn together.
std::string ranks_in_words(std::span<const int> ascending);

}  // namespace ddbench::analyzer
