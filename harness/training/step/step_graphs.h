#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/device/device.h"
#include "harness/device/graph.h"
#include "harness/model/model.h"
#include "harness/training/step/communication_thread.h"
#include "harness/training/step/rank_sum.h"
#include "harness/training/step/step_clock.h"
#include "probes/cuda/cuda_probe.h"
#include "probes/recorder/recorder.h"

namespace ddbench::ddp {

/// What makes one micro-batch's forward and backward queue other work than another's. The first ones'
/// gradients are copied, later ones' added, and only the last ones' reduced.
struct MicroBatchKind {
  enum class Place : std::uint8_t { kFirst, kMiddle, kLast };
  Place place = Place::kLast;  ///< the only one of a step is the last
  bool norms = false;          ///< Strategy::measures_norms(), in the last one
  bool updates = false;        ///< the optimizer's update follows backward
};

/// Forward and backward as CUDA graphs, with their collectives and, where MicroBatchKind says so, the optimizer's update:
/// captured once the first steps are done, and then launched as a whole. What a graph runs is recorded as what it was captured from would be: operators
/// as spans, collectives with bucket, bytes and key. Where nothing can be captured, or a capture fails on any
/// rank, everything runs as it does without. The rank's own thread only; `communication` ends before this
/// does.
class StepGraphs {
 public:
  /// Queues a micro-batch's forward and backward, with its gradients handed to the strategy, and the update if it is to.
  using Pass = std::function<void(const workload::Batch& batch, const MicroBatchKind& kind)>;

  StepGraphs(const RunCase& run_case, device::Device& device, CommunicationThread& communication,
             host::Recorder& recorder, workload::Probe& probe, StepClock& clock, cuda::CudaProbe* kernels);
  ~StepGraphs();
  StepGraphs(const StepGraphs&) = delete;
  StepGraphs& operator=(const StepGraphs&) = delete;

  /// Before the micro-batches of a step, which scale the loss so: captures what is missing, if it is time.
  /// `first_step`: of this process.
  void begin_step(std::uint32_t step, std::uint32_t first_step, float loss_scale, const Pass& pass);
  /// False where run() will not run a graph in any later step.
  bool wanted() const noexcept { return wanted_; }
  /// Runs a micro-batch as a graph; its collectives are done when this returns. False, and nothing was done,
  /// where it must be queued operator by operator. Throws the Error of a failed collective.
  bool run(const workload::Batch& batch, const MicroBatchKind& kind);
  /// When the device has done all of a step, and Probe::drain_queue() has come back.
  void record();

  /// Whether what a strategy hands over is noted: all_reduce() takes it then.
  bool capturing() const noexcept { return capturing_ != nullptr; }
  void all_reduce(collective::Elements data, std::uint16_t bucket);
  /// What is queued from now on comes after them.
  void await_collectives() { capture_->join(); }
  /// Likewise.
  void reduce_scatter(collective::Elements input, collective::Elements output, std::uint16_t bucket);

 private:
  /// By memory, place in the step, and what is recorded of it.
  using Key = std::tuple<const void*, MicroBatchKind::Place, bool, bool>;
  struct Collective {
    std::uint64_t bytes = 0;
    std::uint16_t bucket = kNoBucket;
    bool scatters = false;  // its sum
    std::size_t begin = 0;  // stamps
    std::size_t end = 0;
  };
  static constexpr std::string_view kAllReduce = "all_reduce";
  static constexpr std::string_view kReduceScatter = "reduce_scatter";
  struct Captured {
    bool probed = true;
    std::unique_ptr<device::Graph> graph;
    std::vector<workload::QueuedSpan> spans;
    std::vector<Collective> collectives;
    std::uint64_t first = 0;  // sequence of its collectives in the last launch
    bool pending = false;     // the last launch is not recorded
  };
  struct Seen {
    workload::Batch batch;
    MicroBatchKind kind;
  };

  Key key_of(const workload::Batch& batch, const MicroBatchKind& kind, bool probed) const noexcept;
  std::string why_not() const;
  void capture_all(std::uint32_t step, const Pass& pass);
  void capture(const Seen& seen, bool probed, const Pass& pass);
  void note(const workload::Batch& batch, const MicroBatchKind& kind);
  template <typename Queue>
  void queue_aside(Collective added, const Queue& queue);
  void wait_for(Captured& captured);
  void give_up(const std::string& why);
  void report(const std::string& what);
  void record(Captured& captured);

  const RunCase& run_case_;
  CommunicationThread& communication_;
  host::Recorder& recorder_;
  workload::Probe& probe_;
  StepClock& clock_;
  cuda::CudaProbe* const launches_;     // nullptr where no kernels are recorded
  cuda::CudaProbe* const kernels_;      // likewise, and where those of graphs are not
  cuda::CudaProbe* const nccl_events_;  // nullptr where none are either
  device::GraphCapture* const capture_;
  host::Recorder::Track* const track_;  // for times that stamps measure
  const std::uint32_t all_reduce_name_;
  const std::uint32_t reduce_scatter_name_;
  RankSum failures_;

  bool wanted_;
  bool reported_ = false;
  float loss_scale_ = 0;  // of what is captured
  std::vector<Seen> seen_;
  std::map<Key, Captured> graphs_;
  Captured* capturing_ = nullptr;
  bool collective_failed_ = false;
  std::vector<std::int64_t> times_ns_;
};

}  // namespace ddbench::ddp
