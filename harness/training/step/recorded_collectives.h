#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "core/nccl_event.h"
#include "harness/collective/communicator.h"
#include "harness/training/step/training_monitor.h"
#include "probes/cuda/cuda_probe.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// Where in training a collective belongs.
struct Place {
  std::uint32_t step = kNoStep;
  std::uint16_t bucket = kNoBucket;
};

/// A communicator whose collectives are each recorded as a communication span, counted, and reported to the
/// monitor. `push` and `pull` are all ranks' exchanges with one parameter server, `negotiate` is the
/// agreement on the gradients that are ready. Spans carry bytes as nccl-tests count them: the whole vector,
/// over all ranks. Where a CudaProbe records, the spans are those of NCCL's kernels. One thread, after
/// start().
class RecordedCollectives {
 public:
  RecordedCollectives(collective::Communicator& communicator, host::Recorder& recorder,
                      TrainingMonitor& monitor, cuda::CudaProbe* kernels = nullptr);
  /// On the thread that the collectives will run on.
  void start() { track_ = &recorder_.track(Lane::kCommunication); }

  int rank() const noexcept { return communicator_.rank(); }
  int world_size() const noexcept { return communicator_.world_size(); }

  void all_reduce_sum(collective::Elements data, Place place);
  void reduce_scatter_sum(collective::Elements input, collective::Elements output, Place place);
  void all_gather(collective::Elements input, collective::Elements output, Place place);
  void negotiate(collective::Elements input, collective::Elements output, Place place);
  void broadcast(collective::Elements data, int root);
  void barrier(Place place = {});
  /// `exchange` is made of sends and receives; all ranks take part, `bytes` is the server's vector.
  template <typename Exchange>
  void push(std::int64_t bytes, Place place, Exchange&& exchange) {
    record(Function::kPush, bytes, place, [&] { exchange(communicator_); });
  }
  template <typename Exchange>
  void pull(std::int64_t bytes, Place place, Exchange&& exchange) {
    record(Function::kPull, bytes, place, [&] { exchange(communicator_); });
  }

  /// Gives all-reduces that a graph is about to run their keys, which count on from the one returned. From
  /// the rank's own thread, while no collective is under way.
  std::uint64_t reserve(std::size_t collectives) noexcept {
    const std::uint64_t first = sequence_ + 1;
    sequence_ += collectives;
    return first;
  }
  /// Blocks until `is_done` returns true for the graph with those collectives, and reports to the monitor,
  /// under the name of the first of them.
  void wait_for_graph(const std::function<bool()>& is_done, std::string_view first_collective);
  /// The next collective begins when a device has passed `event` (Device::event_of). False, and nothing is done,
  /// where that cannot be, or where the collective's time would be that of its call.
  bool start_after(void* event) {
    if (event == nullptr || queued() == nullptr || cuda::if_it_records(kernels_) == nullptr) return false;
    queued()->start_after(event);
    return true;
  }
  collective::QueuedCollectives* queued() noexcept { return communicator_.queued(); }
  std::uint64_t key(std::uint64_t sequence) const noexcept {
    return collective_key(communicator_.id(), sequence);
  }

  /// A copy into or out of a communication buffer, recorded from its construction to its destruction; where a CudaProbe
  /// records, what the device does for it.
  class Copy {
   public:
    Copy(host::Recorder::Track& track, cuda::CudaProbe* kernels, std::uint32_t name, std::int64_t bytes, Place place) noexcept
        : range_(kernels, {SpanKind::kCopy, place.step, place.bucket, static_cast<std::uint64_t>(bytes)}) {
      if (cuda::if_it_records(kernels) != nullptr) return;
      span_.emplace(track, SpanKind::kCopy, name, place.step, static_cast<std::uint64_t>(bytes), place.bucket);
    }

   private:
    std::optional<host::ScopedSpan> span_;
    const cuda::ScopedRange range_;
  };
  [[nodiscard]] Copy copy(std::uint32_t name, std::int64_t bytes, Place place) noexcept {
    return {*track_, kernels_, name, bytes, place};
  }

 private:
  enum class Function : std::uint8_t {
    kAllReduce,
    kReduceScatter,
    kAllGather,
    kNegotiate,
    kBroadcast,
    kBarrier,
    kPush,
    kPull
  };
  static constexpr std::array<std::string_view, 8> kNames{
      "all_reduce", "reduce_scatter", "all_gather", "negotiate", "broadcast", "barrier", "push", "pull"};

  /// Returns the span that finish() completes.
  Span begin(Function function, std::int64_t bytes, Place place);
  void finish(Span& span);
  template <typename Action>
  void record(Function function, std::int64_t bytes, Place place, Action&& action) {
    Span span = begin(function, bytes, place);
    {
      const std::string_view name = kNames[static_cast<std::size_t>(function)];
      const cuda::ScopedRange range(kernels_, {span.kind, span.step, span.bucket, span.bytes, span.correlation,
                                               is_named_by_engine(name) ? name.data() : nullptr});
      action();
    }
    finish(span);
  }

  collective::Communicator& communicator_;
  host::Recorder& recorder_;
  TrainingMonitor& monitor_;
  cuda::CudaProbe* const kernels_;
  std::array<std::uint32_t, kNames.size()> name_ids_{};
  std::uint64_t sequence_ = 0;
  host::Recorder::Track* track_ = nullptr;
};

}  // namespace ddbench::ddp
