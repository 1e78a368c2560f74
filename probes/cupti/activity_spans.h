#pragma once

#include <cupti.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "probes/cuda/cuda_probe.h"

namespace ddbench::cuda {

// The records of the CUPTI that this is built with.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using MemcpyRecord = CUpti_ActivityMemcpy6;
using OverheadRecord = CUpti_ActivityOverhead3;
#else
using KernelRecord = CUpti_ActivityKernel9;
using MemcpyRecord = CUpti_ActivityMemcpy5;
using OverheadRecord = CUpti_ActivityOverhead2;
#endif
using GraphRecord = CUpti_ActivityGraphTrace2;
using MemsetRecord = CUpti_ActivityMemset4;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using MarkerRecord = CUpti_ActivityMarker2;

/// Turns CUPTI's activity records into spans. Needs no CUPTI: the records may come from any source. Buffers
/// of different threads and streams arrive in any order, so work whose call was not yet reported is held back
/// until it is, or until finish(). One thread at a time.
class ActivitySpans {
 public:
  /// `name` is valid during the call; times are those of the records.
  using Sink = std::function<void(const Span& span, std::string_view name)>;
  /// The range that was pushed with an external id; nullptr when it is no longer known.
  using Ranges = std::function<const Range*(std::uint64_t external_id)>;
  /// The range of a collective that was pushed on any thread at a time; nullptr when there was none.
  using Collectives = std::function<const Range*(std::int64_t time_ns)>;
  /// The range that a node of a captured graph was captured in; nullptr when none is known.
  using Nodes = std::function<const Range*(std::uint64_t node)>;
  using ApiName = std::function<std::string_view(const CUpti_ActivityAPI& call)>;

  ActivitySpans(Ranges ranges, Collectives collectives, Nodes nodes, ApiName api_name, Sink sink);

  /// One buffer.
  void convert(std::span<const CUpti_Activity* const> records);
  /// Ranges were pushed: work is held back until its call is reported, even if no range was reported yet.
  void expect_ranges() noexcept { ranges_in_use_ = true; }
  /// What is added to times of records. Those of records converted so far stay.
  void set_clock_offset_ns(std::int64_t offset_ns) noexcept { clock_offset_ns_ = offset_ns; }
  /// What is held back will not become clearer.
  void finish();

  /// Records and spans, invalid times, unknown kernels, overhead. Not what CUPTI drops.
  const ProbeCounters& counters() const noexcept { return counters_; }

 private:
  struct Work {
    Span span;
    std::string_view name;   ///< CUPTI keeps names of kernels
    std::uint32_t call = 0;  ///< correlation id
    std::uint64_t node = 0;  ///< of the graph that it is part of; 0 outside of one
    bool is_communication = false;
    bool is_graph = false;  ///< as a whole
  };

  void note_call(std::uint32_t call, std::uint64_t external_id);
  /// The external id of a call, 0 outside of ranges; nullptr when the call was not reported yet.
  const std::uint64_t* find_call(std::uint32_t call) const;
  bool add_calls(std::span<const CUpti_Activity* const> records);  ///< whether there were any
  void convert_record(const CUpti_Activity& record);
  void convert_kernel(const KernelRecord& kernel);
  void convert_graph(const GraphRecord& graph);
  void convert_api(const CUpti_ActivityAPI& call);
  void convert_marker(const MarkerRecord& marker);
  template <typename Record>
  void convert_copy(const Record& copy, std::uint64_t bytes, std::string_view name);
  bool set_times(Span& span, std::uint64_t begin_ns, std::uint64_t end_ns);
  void add_work(const Work& work);
  static void become_communication(Work& work);
  void emit(Work work, std::uint64_t external_id);
  Range range_of(const Work& work, const Range& pushed);
  void release_held(bool all);

  const Ranges ranges_;
  const Collectives collectives_;
  const Nodes nodes_;
  const ApiName api_name_;
  const Sink sink_;
  ProbeCounters counters_;
  bool ranges_in_use_ = false;
  std::int64_t clock_offset_ns_ = 0;
  // Two generations: the older one is forgotten when the younger one is full.
  std::unordered_map<std::uint32_t, std::uint64_t> calls_;
  std::unordered_map<std::uint32_t, std::uint64_t> older_calls_;
  std::unordered_map<std::uint32_t, MarkerRecord> open_markers_;
  std::deque<Work> held_;
};

}  // namespace ddbench::cuda
