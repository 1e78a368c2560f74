#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// A store in a directory of its own, which is removed with it.
class ScratchStore {
 public:
  ScratchStore();
  ~ScratchStore();
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;
  store::RunStore& get() { return store_; }

 private:
  std::filesystem::path directory_;
  store::RunStore store_;
};

/// Training as DDP does it, to the nanosecond, times in units of 1 us from the step's begin on the reference
/// clock: host [0,2) forward [2,12) backward [12,32), all_reduce of bucket 0 from 22 + lag of the rank to 22
/// + the largest lag + `transfer_us`, optimizer from max(32, its end) for 5, idle for the rest of the step.
struct SyntheticRun {
  store::RunId id = "20261121T000000-00000001";
  RunCase run_case;
  std::vector<std::int64_t> lag_us = {0, 3};  ///< by rank: how late it arrives at the collective
  std::int64_t transfer_us = 20;
  std::int64_t step_us = 60;
  std::uint64_t bytes = 4'000'000;
  int probe_off_every = 0;         ///< 0: probes always on; N: each N-th measured step is a probe-off window
  std::int64_t probe_cost_ns = 0;  ///< by which a probe-on step is longer
  std::vector<std::int64_t> clock_offset_ns = {0, 0};  ///< reference - local
  std::int64_t clock_uncertainty_ns = 0;               ///< 0: shared clock
  std::vector<std::string> parameter_hash = {"aa", "aa"};

  /// Sets run_case and gives every rank lag 0, no clock offset and the same parameters.
  void set_world(int nodes, int gpus_per_node);
  std::vector<Span> spans_of(int rank) const;
  store::RunRecord record() const;
  /// Creates run, ranks, spans and losses (rank r, step s: 2 - 0.01 s + 0.5 r).
  void store_into(store::RunStore& store) const;
  void store_into(store::RunStore& store, const store::RunRecord& run) const;
};

inline constexpr std::int64_t kUs = 1000;
inline const std::vector<std::string> kSyntheticNames = {"step",     "host",       "forward",
                                                         "backward", "all_reduce", "sgd"};

Span synthetic_span(SpanKind kind, std::uint32_t name_id, std::uint32_t step, std::int64_t begin_ns,
                    std::int64_t end_ns);

}  // namespace ddbench::analyzer
