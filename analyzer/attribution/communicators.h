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

/// Which ranks use which communicator, as far as the run was seen, and what ranks report about their sizes
/// (core/name_table.h). A communicator is known by the number in collective_key().
class CommunicatorMembers {
 public:
  explicit CommunicatorMembers(std::size_t ranks) : ranks_(ranks) {}
  /// A rank began this collective at `begin_ns` of its own clock.
  void add(std::uint64_t correlation, std::size_t rank, std::int64_t begin_ns);
  /// The names that a rank interned, of which some are sizes.
  void add_names(std::span<const std::string> names);

  /// Ranks that a collective needs to be complete: the size of its communicator where that is known, else the ranks that
  /// were seen to use it. Of these, one that never took part in any collective may belong to each. 0, which no collective
  /// has, where more ranks use the number than the communicator has: communicators of the same number on different ranks,
  /// whose collectives cannot be told apart.
  std::size_t expected(std::uint64_t correlation) const;

  static std::uint16_t number_of(std::uint64_t correlation) noexcept;
  /// What the run's rows say of a communicator, once all ranks were added. `run_ranks`: the numbers that the ranks have in
  /// the run, ascending.
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
