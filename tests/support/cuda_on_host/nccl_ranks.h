#pragma once

#include <nccl.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace ddbench::cuda_on_host {

/// What a C function answers with, and the sentence of ncclGetLastError. Caught at that boundary.
struct NcclError : std::runtime_error {
  NcclError(ncclResult_t code, const std::string& what) : std::runtime_error(what), result(code) {}
  ncclResult_t result;
};

using RankSet = std::uint64_t;  ///< a bit a rank

struct RankPlace {
  std::uint64_t host = 0;      ///< of NCCL_HOSTID; the same for all ranks without
  std::array<char, 16> gpu{};  ///< its UUID
  bool operator==(const RankPlace&) const = default;
};

/// A rank's state as it reports it to the others, in memory shared by all ranks; new memory is zero.
struct alignas(64) RankSeat {
  enum State : int { kNone, kHere, kLeft, kAborted };
  std::atomic<pid_t> process;
  std::atomic<int> state;
  RankPlace place;
  std::atomic<std::uint64_t> published;  ///< rounds of collectives that its slot was filled for
  std::atomic<std::uint64_t> consumed;   ///< rounds that it has read the others' slots of
};

/// The ranks of a communicator on one machine: which ranks have joined, a slot of each that all others read,
/// and a pipe between each two. The memory's name is removed once all ranks have joined. One thread at a
/// time.
class NcclRanks {
 public:
  static constexpr int kMost = 64;

  /// Takes the rank's seat. Throws NcclError.
  NcclRanks(const ncclUniqueId& id, int count, int rank, const RankPlace& place);
  ~NcclRanks();
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  int count() const noexcept { return count_; }
  int rank() const noexcept { return rank_; }
  /// True as soon as all have come.
  bool is_complete() noexcept;
  /// The others see it when they wait for this rank. Until is_complete() takes the memory's name away.
  void leave(bool aborted) noexcept;
  /// A rank that died or aborted, or left although it is awaited; -1: none.
  int find_gone(RankSet awaited) const;
  const RankSeat& seat(int rank) const noexcept;

  // Rounds of collectives, numbered from 1. A slot has room for two of them, so that a rank fills the one
  // while others still read the other.
  std::size_t slot_size() const noexcept;
  std::uint64_t next_round() const noexcept;
  /// Those that still read what lies where `round` is to go.
  RankSet readers_before(std::uint64_t round) const noexcept;
  std::byte* slot(int rank, std::uint64_t round) const noexcept;
  void publish(std::uint64_t round) noexcept;
  RankSet not_published(std::uint64_t round, RankSet of) const noexcept;
  void consume(std::uint64_t round) noexcept;
  RankSet everybody() const noexcept { return ~RankSet{0} >> (kMost - count_); }

  // As many bytes as there is room for, or as have come; returns how many.
  std::size_t write(int to, const std::byte* data, std::size_t size) noexcept;
  std::size_t read(int from, std::byte* data, std::size_t size) noexcept;

 private:
  struct Pipe;
  struct Memory;
  std::size_t pipe_size() const noexcept;
  Pipe& pipe(int from, int to) const noexcept;
  std::byte* pipe_data(int from, int to) const noexcept;
  template <typename Condition>
  RankSet ranks_where(const Condition& condition) const noexcept;

  const std::string name_;
  const int count_;
  const int rank_;
  Memory* memory_ = nullptr;
};

}  // namespace ddbench::cuda_on_host
