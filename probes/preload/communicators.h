#pragma once

#include <cstdint>

namespace ddbench::inject {

/// A communicator of a library in this process, as the program uses it.
struct CommunicatorUse {
  std::uint16_t number = 0;  ///< as in collective_key()
  int ranks = 0;             ///< 0: not known
  std::uint64_t collectives = 0;
  unsigned reported_to = 0;  ///< generation of the recorder that knows its size
};

/// Reports the size to the process's recorder, once each: a recorder that took over (a fork) does not know it yet.
void report_size(CommunicatorUse& use) noexcept;

/// Reports to the process's recorder that this process is `rank` of `ranks` in some communicator, once each recorder and
/// number of ranks. Nothing for fewer than two ranks.
void report_place(int rank, int ranks) noexcept;

/// The number of a communicator that is the `place`-th of its kind (such as: of the same members) in this process. The same
/// on all ranks that have the same `kind`; other kinds have other numbers, but for one pair in 65,536.
std::uint16_t communicator_number(std::uint64_t kind, std::uint64_t place) noexcept;

}  // namespace ddbench::inject
