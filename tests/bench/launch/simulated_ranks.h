#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace ddbench::bench {

/// Shared by the launcher's process and that of the simulated ranks.
struct Progress {
  std::atomic<int> ready{0};                  ///< ranks that have sent Ready
  std::atomic<std::int64_t> all_ready_ns{0};  ///< now_ns() of the last of them
  std::atomic<std::uint64_t> received_bytes{0};
  std::atomic<std::uint64_t> heartbeats{0};
};

struct Simulation {
  int ranks = 0;
  double seconds = 0;  ///< of training
  std::string mode;    ///< "nccl": places of all ranks to all; "gloo": a column of addresses to each
  int threads = 2;
};

/// Ranks without training: they speak the real protocol (handshake, hello, rendezvous, 48 readings of the clock, heartbeats at the real
/// rate, spools of 4 kB a second) with the launcher that the environment names. Returns when all were finished.
void simulate_ranks(const Simulation& simulation, Progress& progress);

}  // namespace ddbench::bench
