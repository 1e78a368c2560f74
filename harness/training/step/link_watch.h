#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/collective/communicator.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// Records the bytes that a rank has sent to each other rank, and how long its connections were busy with
/// them (core/run_case/link_counters.h), so that a slow link is found although a ring makes all ranks wait
/// equally. One reading every kEvery steps, for steps with the probes on: about a microsecond per connection.
/// One thread.
class LinkWatch {
 public:
  static constexpr std::uint32_t kEvery = 8;
  static constexpr std::size_t kMostLinks = 64;

  LinkWatch(host::Recorder& recorder, const collective::Communicator& communicator)
      : recorder_(recorder), communicator_(communicator) {}

  void end_step(std::uint32_t step, bool is_probed);
  /// What the readings have taken so far.
  std::int64_t cost_ns() const noexcept { return cost_ns_; }

 private:
  struct Link {
    int peer = 0;
    std::uint64_t reported_bytes = 0;
    std::string bytes_name;
    std::string busy_name;
  };
  Link* link_to(const collective::LinkCounters& counters, std::uint32_t step);

  host::Recorder& recorder_;
  const collective::Communicator& communicator_;
  std::vector<collective::LinkCounters> counters_;
  std::vector<Link> links_;
  std::uint32_t next_step_ = 0;
  std::int64_t cost_ns_ = 0;
};

}  // namespace ddbench::ddp
