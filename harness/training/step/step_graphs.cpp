#include "harness/training/step/step_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/facts/facts.h"
#include "harness/training/step/graph_policy.h"

namespace ddbench::ddp {
namespace {

using cuda::ScopedRange;

/// Whatever ends a capture, it ends on all sides.
class CaptureScope {
 public:
  CaptureScope(device::GraphCapture& capture, workload::Probe& probe, bool probed, cuda::CudaProbe* kernels)
      : capture_(capture), probe_(probe), kernels_(kernels) {
    if (kernels_ != nullptr && !kernels_->follow_capture(true)) {
      throw Error(ErrorCode::kRunFailed, "CUPTI does not report the kernels of a graph one by one", 0,
                  "capture a graph");
    }
    probe_.begin_capture(probed);
  }
  ~CaptureScope() {
    capture_.cancel();
    if (kernels_ != nullptr) kernels_->follow_capture(false);
    if (!ended_) probe_.end_capture();
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

  std::vector<workload::QueuedSpan> end() {
    ended_ = true;
    return probe_.end_capture();
  }

 private:
  device::GraphCapture& capture_;
  workload::Probe& probe_;
  cuda::CudaProbe* const kernels_;
  bool ended_ = false;
};

}  // namespace

StepGraphs::StepGraphs(const RunCase& run_case, device::Device& device, CommunicationThread& communication,
                       host::Recorder& recorder, workload::Probe& probe, StepClock& clock,
                       cuda::CudaProbe* kernels)
    : run_case_(run_case),
      communication_(communication),
      recorder_(recorder),
      probe_(probe),
      clock_(clock),
      launches_(cuda::if_it_records(kernels)),
      kernels_(launches_ != nullptr && launches_->records_graph_nodes() ? launches_ : nullptr),
      nccl_events_(kernels),
      capture_(device.graph_capture()),
      track_(capture_ != nullptr ? &recorder.track(Lane::kCommunication) : nullptr),
      all_reduce_name_(recorder.intern(kAllReduce)),
      reduce_scatter_name_(recorder.intern(kReduceScatter)),
      failures_(device, communication),
      wanted_(capture_ != nullptr) {
  // Before the first probe-off window.
  if (wanted_ && kernels_ != nullptr && why_no_graph(run_case).empty()) kernels_->expect_graphs();
  collective::QueuedCollectives* const queued = communication_.collectives().queued();
  if (queued == nullptr) return;
  queued->on_give_up([this] {
    // A capture under way counts for NCCL too.
    if (capturing_ != nullptr) capture_->cancel();
    for (auto& [key, captured] : graphs_) captured.graph->release();
  });
}

StepGraphs::~StepGraphs() {
  if (auto* const queued = communication_.collectives().queued()) queued->on_give_up({});
}

void StepGraphs::report(const std::string& what) {
  recorder_.intern(reported(fact_key<"training.cuda_graph">, what));
}

void StepGraphs::give_up(const std::string& why) {
  graphs_.clear();
  wanted_ = false;
  report("off: " + why);
}

std::string StepGraphs::why_not() const {
  if (std::string why = why_no_graph(run_case_); !why.empty()) return why;
  RecordedCollectives& collectives = communication_.collectives();
  if (collectives.world_size() > 1 && collectives.queued() == nullptr) {
    return fmt::format("the collectives of backend {} are no work of the GPU", run_case_.backend);
  }
  return {};
}

void StepGraphs::begin_step(std::uint32_t step, std::uint32_t first_step, float loss_scale,
                            const Pass& pass) {
  if (!wanted_) return;
  if (step == first_step) {
    if (const std::string why = why_not(); !why.empty()) return give_up(why);
  }
  // The scale is one of the numbers that a graph holds.
  if (step < first_step + kStepsBeforeCapture || loss_scale == loss_scale_) return;
  graphs_.clear();
  if (!probe_.track().enabled()) return;  // a probe-off window, which makes no spans that a graph could keep
  loss_scale_ = loss_scale;
  capture_all(step, pass);
}

void StepGraphs::capture_all(std::uint32_t step, const Pass& pass) {
  std::string why;
  try {
    for (const Seen& seen : seen_) {
      capture(seen, true, pass);
      if (!seen.kind.norms) capture(seen, false, pass);
    }
  } catch (const Error& error) {
    if (collective_failed_) {
      throw Error(error.code(), error.message() + ", while a CUDA graph was captured; try --cuda-graph off",
                  error.native_code(), error.where());
    }
    why = error.message();
  }
  // Ranks of which some run a graph and some do not would run collectives that NCCL has set up differently.
  failures_.submit(why.empty() ? 0 : 1, {.step = step});
  communication_.wait();
  if (failures_.get() != 0) {
    if (why.empty()) why = "another rank could not capture its own";
    return give_up(reported_ ? fmt::format("from step {} on, {}", step, why) : why);
  }
  if (!std::exchange(reported_, true)) report(fmt::format("captured from step {}", step));
}

void StepGraphs::capture(const Seen& seen, bool probed, const Pass& pass) {
  Captured captured;
  captured.probed = probed;
  CaptureScope scope(*capture_, probe_, probed, probed ? kernels_ : nullptr);
  capture_->begin();
  const cuda::NcclEventsPaused paused(nccl_events_);
  capturing_ = &captured;
  try {
    pass(seen.batch, seen.kind);
  } catch (...) {
    capturing_ = nullptr;
    throw;
  }
  capturing_ = nullptr;
  captured.graph = capture_->end();
  captured.spans = scope.end();
  graphs_.emplace(key_of(seen.batch, seen.kind, probed), std::move(captured));
}

void StepGraphs::all_reduce(collective::Elements data, std::uint16_t bucket) {
  queue_aside({.bytes = static_cast<std::uint64_t>(data.bytes()), .bucket = bucket}, [&](auto& queued, void* stream) {
    queued.queue_all_reduce_sum(data, stream);
  });
}

void StepGraphs::reduce_scatter(collective::Elements input, collective::Elements output, std::uint16_t bucket) {
  const Collective added{.bytes = static_cast<std::uint64_t>(input.bytes()), .bucket = bucket, .scatters = true};
  queue_aside(added, [&](auto& queued, void* stream) { queued.queue_reduce_scatter_sum(input, output, stream); });
}

template <typename Queue>
void StepGraphs::queue_aside(Collective added, const Queue& queue) {
  RecordedCollectives& collectives = communication_.collectives();
  if (collectives.world_size() == 1) return;
  const bool probed = capturing_->probed;
  const bool stamped = probed && kernels_ == nullptr;
  capture_->aside([&](void* stream) {
    if (stamped) added.begin = capture_->stamp_aside();
    {
      const ScopedRange range(probed ? kernels_ : nullptr, {SpanKind::kCommunication, kNoStep, added.bucket,
                                                            added.bytes, capturing_->collectives.size()});
      collective_failed_ = true;
      queue(*collectives.queued(), stream);
      collective_failed_ = false;
    }
    if (stamped) added.end = capture_->stamp_aside();
  });
  capturing_->collectives.push_back(added);
}

StepGraphs::Key StepGraphs::key_of(const workload::Batch& batch, const MicroBatchKind& kind,
                                   bool probed) const noexcept {
  return {batch.inputs.data, kind.place, kind.norms, probed};
}

bool StepGraphs::run(const workload::Batch& batch, const MicroBatchKind& kind) {
  if (!wanted_) return false;
  const bool probed = probe_.track().enabled();
  const auto found = graphs_.find(key_of(batch, kind, probed));
  if (found == graphs_.end()) {
    if (graphs_.empty()) note(batch, kind);
    return false;
  }
  Captured& captured = found->second;
  if (captured.pending) record(captured);  // of an earlier micro-batch, which is done
  RecordedCollectives& collectives = communication_.collectives();
  captured.first = collectives.reserve(captured.collectives.size());
  {
    const ScopedRange range(probed ? launches_ : nullptr, {SpanKind::kCompute, probe_.step(), kNoBucket, 0,
                                                          collectives.key(captured.first)});
    captured.graph->launch();
  }
  captured.pending = probed && kernels_ == nullptr;
  if (!captured.collectives.empty()) wait_for(captured);
  return true;
}

void StepGraphs::note(const workload::Batch& batch, const MicroBatchKind& kind) {
  const Key key = key_of(batch, kind, true);
  const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& seen) {
    return key_of(seen.batch, seen.kind, true) == key;
  });
  if (known == seen_.end()) seen_.push_back({batch, kind});
}

/// On the communication thread, as for every collective: it notices when a peer is gone.
void StepGraphs::wait_for(Captured& captured) {
  communication_.submit([&captured](RecordedCollectives& collectives) {
    collectives.wait_for_graph([&captured] { return captured.graph->is_done(); },
                               captured.collectives.front().scatters ? kReduceScatter : kAllReduce);
  });
  clock_.pause_host();
  communication_.wait();
  clock_.resume_host();
}

void StepGraphs::record() {
  for (auto& [key, captured] : graphs_) {
    if (captured.pending) record(captured);
  }
}

void StepGraphs::record(Captured& captured) {
  captured.pending = false;
  captured.graph->read_stamps(times_ns_);
  probe_.record_captured(captured.spans, times_ns_);
  std::uint64_t sequence = captured.first;
  for (const Collective& collective : captured.collectives) {
    track_->record({.begin_ns = times_ns_[collective.begin],
                    .end_ns = times_ns_[collective.end],
                    .bytes = collective.bytes,
                    .correlation = communication_.collectives().key(sequence++),
                    .name_id = collective.scatters ? reduce_scatter_name_ : all_reduce_name_,
                    .step = probe_.step(),
                    .kind = SpanKind::kCommunication,
                    .bucket = collective.bucket});
  }
}

}  // namespace ddbench::ddp
