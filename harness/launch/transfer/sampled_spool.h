#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "probes/recorder/spool.h"
#include "probes/recorder/spool_writer.h"

namespace ddbench::launch {

/// Selects the steps of a rank that are sent with every span: one in 16, and those slower than each of the 31
/// before them (for similar steps that is one in 32).
class StepSampler {
 public:
  /// `measured_from`: the first step after the warm-up is one of the 16ths.
  explicit StepSampler(std::uint32_t measured_from) : measured_from_(measured_from) {}

  /// Asked for each step once, in order.
  bool wants(std::uint32_t step, std::int64_t duration_ns);

 private:
  std::uint32_t measured_from_;
  std::deque<std::int64_t> latest_ns_;
};

/// Copies a rank's spool as it grows, into one that is to be sent: of the steps that are not wanted whole it
/// has what analyzer::summarize_step leaves. One thread at a time.
class SampledSpool {
 public:
  /// Throws as SpoolReader and SpoolWriter do.
  SampledSpool(const std::filesystem::path& spool, const std::filesystem::path& reduced,
               const std::string& run_id, int rank, StepSampler sampler);

  /// Processes what has been recorded since the last call. A step waits until the time of a later one shows
  /// that it is complete: the spans of a GPU arrive some buffers late. `is_rest`: nothing more will be
  /// recorded, so no step waits.
  void follow(bool is_rest);

 private:
  struct PendingStep {
    std::vector<Span> spans;
    std::int64_t begin_ns = 0;  ///< of its kStep span; as its end, 0 until that has come
    std::int64_t end_ns = 0;
  };
  using Steps = std::map<std::uint32_t, PendingStep>;

  void take(host::SpoolBatch& batch);
  void hold(const Span& span);
  bool is_complete(Steps::const_iterator step) const;
  void write(Steps::const_iterator step);
  std::vector<Span> neighbours_of(Steps::const_iterator step) const;

  host::SpoolReader reader_;
  host::SpoolWriter writer_;
  StepSampler sampler_;
  Steps pending_;
  std::vector<Span> before_;         ///< of the step written last
  std::uint32_t first_pending_ = 0;  ///< spans of steps before it go by as they are
  std::int64_t newest_ns_ = 0;
  std::uint64_t dropped_ = 0;
  bool ended_ = false;
};

}  // namespace ddbench::launch
