// The whole life of a DDP worker after rendezvous, top to bottom.
#include "harness/training/train.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/learning_rate.h"
#include "core/text/quantity.h"
#include "harness/device/device.h"
#include "harness/model/architectures/registry.h"
#include "harness/training/checkpoint/checkpointer.h"
#include "harness/training/data/loader.h"
#include "harness/training/footprint.h"
#include "harness/training/gemm_peak.h"
#include "harness/training/gradient_noise.h"
#include "harness/training/half_conversion.h"
#include "harness/training/injected_faults.h"
#include "harness/training/optimizer/loss_scale.h"
#include "harness/training/optimizer/optimizer.h"
#include "harness/training/optimizer/parameters.h"
#include "harness/training/step/link_watch.h"
#include "harness/training/step/run_queue_watch.h"
#include "harness/training/step/step_clock.h"
#include "harness/training/step/step_graphs.h"
#include "harness/training/step/target_watch.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

void refuse_to_go_on(const RunCase& run_case, int rank, std::uint32_t step, double loss) {
  throw Error(
      ErrorCode::kRunFailed,
      fmt::format(
          "rank {}: the loss became {} in step {}: training diverged. Lower --lr (it is {}) or the batch.",
          rank, loss, step, run_case.lr),
      0, "train");
}

/// A direct account of what the probes took in a step with the probes on, of which there were `probed`: the scalars
/// kProbeCost...
void record_probe_cost(host::Recorder& recorder, std::int64_t readings_ns, std::uint32_t last_step, double probed) {
  const host::RecorderCost cost = recorder.cost();
  if (probed == 0) return;
  recorder.record_scalar(fact_key<"probe_cost.spans">.name, last_step,
                         static_cast<double>(cost.spans) / probed);
  recorder.record_scalar(fact_key<"probe_cost.push_ns">.name, last_step, cost.push_ns);
  recorder.record_scalar(fact_key<"probe_cost.drain_ns">.name, last_step,
                         static_cast<double>(cost.drain_cpu_ns) / probed);
  recorder.record_scalar(fact_key<"probe_cost.readings_ns">.name, last_step,
                         static_cast<double>(readings_ns) / probed);
}

/// What the device's allocator has given out, by use, at its peak so far.
void record_memory(host::Recorder& recorder, const device::Device& device, const Optimizer& optimizer, std::uint32_t step) {
  const device::MemoryByUse& peak = device.memory().peak();
  recorder.record_scalar(fact_key<"memory.device_peak_bytes">.name, step, static_cast<double>(peak.total()));
  for (std::size_t use = 0; use < device::kMemoryUses; ++use) {
    recorder.record_scalar(fmt::format("memory.{}_bytes", device::kMemoryUseNames[use]), step,
                           static_cast<double>(peak.bytes[use]));
  }
  if (const std::int64_t offloaded = optimizer.offloaded_bytes(); offloaded > 0) {
    recorder.record_scalar(fact_key<"memory.offloaded_bytes">.name, step, static_cast<double>(offloaded));
  }
  if (const std::int64_t reserved = device.reserved_peak_bytes(); reserved > 0) {
    recorder.record_scalar(fact_key<"memory.device_reserved_bytes">.name, step, static_cast<double>(reserved));
  }
}

/// For predictions of `-S hook=fp16`.
void record_half_conversion(host::Recorder& recorder, device::Device& device,
                            const std::vector<workload::ParameterSpec>& specs, std::uint32_t step) {
  std::int64_t bytes = 0;
  for (const workload::ParameterSpec& spec : specs) bytes += spec.elements() * 4;
  const HalfConversion conversion = measure_half_conversion(device, bytes);
  recorder.record_scalar(fact_key<"gradients.narrow_ns_per_mib">.name, step, conversion.narrow_ns_per_mib);
  recorder.record_scalar(fact_key<"gradients.widen_ns_per_mib">.name, step, conversion.widen_ns_per_mib);
}

/// Every rank draws parameters of its own, as processes of a DDP program do; rank 0's count. Who keeps but a share of them draws
/// rank 0's.
void draw_parameters(const RunCase& run_case, int rank, const std::vector<workload::ParameterSpec>& specs, Strategy& strategy,
                     TrainingMonitor& monitor) {
  ReportedWork work(monitor, LongWork::kDrawParameters);
  const auto stream = static_cast<std::uint64_t>(strategy.source() == nullptr ? rank : 0);
  workload::draw_values(specs, run_case.seed + stream, [&](std::size_t parameter, const float* values) {
    strategy.set_values(parameter, values);
    work.piece_done();
  });
}

/// The numbers of an update (Optimizer::update).
struct UpdateNumbers {
  std::uint32_t updates;
  double lr;
};

/// One step's gradients: forward and backward of every micro-batch; and their update, where a graph contains it.
class StepGradients {
 public:
  /// `updates_at_once`: nothing between the last backward and the update depends on the host.
  StepGradients(const RunCase& run_case, Loader& loader, workload::Model& model, Strategy& strategy, Optimizer& optimizer,
                workload::Probe& probe, StepGraphs& graphs, bool updates_at_once)
      : micro_batches_(run_case.accumulate),
        captures_update_(updates_at_once && strategy.updates_everything() && optimizer.can_be_captured()),
        loader_(loader),
        model_(model),
        strategy_(strategy),
        optimizer_(optimizer),
        probe_(probe),
        graphs_(graphs),
        on_ready_([&strategy](std::size_t parameter) { strategy.on_ready(parameter); }) {}

  /// Call before the strategy learns whether the step measures norms.
  void begin_step(std::uint32_t step, std::uint32_t first_step, float loss_scale) {
    model_.scale_loss(loss_scale);
    graphs_.begin_step(step, first_step, loss_scale, [this](const auto& batch, const MicroBatchKind& kind) {
      strategy_.measure_norms(kind.norms);
      model_.keep_weights(micro_batches_ > 1 && kind.place != Place::kFirst);
      model_.queue_forward(batch, probe_);
      strategy_.begin_backward(number_of(kind.place));
      model_.backward(batch, probe_, on_ready_);
      if (!kind.updates) return;
      graphs_.await_collectives();
      strategy_.capture_update(optimizer_);
    });
  }

  /// Returns the mean loss of this rank. `before_last_backward` is called with it: after it, where backward runs in a graph.
  template <typename Action>
  double compute(const UpdateNumbers& numbers, Action&& before_last_backward) {
    double loss = 0;
    updated_ = false;
    for (int micro_batch = 0; micro_batch < micro_batches_; ++micro_batch) {
      const workload::Batch& batch = loader_.next(probe_);
      const bool is_last = micro_batch + 1 == micro_batches_;
      const MicroBatchKind kind = kind_of(micro_batch);
      if (kind.updates) optimizer_.prepare(numbers.updates, numbers.lr);
      if (graphs_.run(batch, kind)) {
        updated_ = kind.updates;
        loss += model_.loss() / micro_batches_;
        if (is_last) before_last_backward(loss);
        strategy_.begin_backward(micro_batch);
      } else {
        model_.keep_weights(micro_batch > 0);
        loss += model_.forward(batch, probe_) / micro_batches_;
        if (is_last) before_last_backward(loss);
        strategy_.begin_backward(micro_batch);
        model_.backward(batch, probe_, on_ready_);
      }
      if (!updated_) strategy_.finish_backward();
    }
    return loss;
  }
  /// Whether the step's update is done too.
  bool updated() const noexcept { return updated_; }

 private:
  using Place = MicroBatchKind::Place;
  MicroBatchKind kind_of(int micro_batch) const noexcept {
    const bool norms = strategy_.measures_norms();
    if (micro_batch + 1 == micro_batches_) return {Place::kLast, norms, captures_update_ && graphs_.wanted() && !norms};
    return {micro_batch == 0 ? Place::kFirst : Place::kMiddle, false, false};
  }
  int number_of(Place place) const noexcept {
    return place == Place::kLast ? micro_batches_ - 1 : place == Place::kFirst ? 0 : 1;
  }

  const int micro_batches_;
  const bool captures_update_;
  bool updated_ = false;
  Loader& loader_;
  workload::Model& model_;
  Strategy& strategy_;
  Optimizer& optimizer_;
  workload::Probe& probe_;
  StepGraphs& graphs_;
  const workload::GradientReady on_ready_;
};

}  // namespace

static TrainResult train_within_memory(const RunCase& run_case, collective::Communicator& communicator,
                                host::Recorder& recorder, TrainingMonitor& monitor,
                                const CheckpointPlan& checkpoints, cuda::CudaProbe* kernels) {
  check_supported(run_case);
  const int rank = communicator.rank();
  const int world_size = communicator.world_size();

  const auto workload = workload::make_workload(run_case);
  const auto device =
      device::make_device(run_case.device, {.rank = rank, .tf32 = run_case.precision == "tf32"});
  const auto dataset = workload->make_dataset(run_case.data, run_case.seed);
  const std::vector<workload::ParameterSpec> specs = workload->parameters();
  const workload::ParameterUses uses = workload->parameter_uses();

  workload::Probe probe(recorder);
  probe.observe(*device, kernels);
  StepClock clock(recorder, probe);
  CommunicationThread communication(communicator, recorder, monitor, kernels);
  RunQueueWatch run_queue(recorder, communication.threads());
  LinkWatch links(recorder, communicator);
  TargetWatch target(run_case, rank, *device, communication, recorder);
  LossScale loss_scale(run_case);
  StepGraphs graphs(run_case, *device, communication, recorder, probe, clock, kernels);
  const auto strategy =
      strategy_info(run_case.strategy)
          .make({run_case, specs, uses, rank, world_size, communication, *device, clock, probe, graphs});
  const EndOfCommunication end_of_communication(communication);
  const auto model =
      workload->make_model(*device, strategy->parameters(), run_case.batch_per_gpu / run_case.accumulate,
                           probe, workload::activation_type(run_case.precision), strategy->source());
  const auto optimizer = make_optimizer(run_case, strategy->slices(), *device, probe);

  if (checkpoints.resume_from.empty()) draw_parameters(run_case, rank, specs, *strategy, monitor);
  Checkpointer checkpointer(run_case, checkpoints, rank, *strategy, *optimizer, target, loss_scale,
                            communication, recorder, probe, *device, monitor);
  const std::uint32_t first_step = checkpointer.restore();
  const std::uint32_t first_measured = run_case.first_measured_step(first_step);
  // While the other ranks wait for the parameters, so that they leave the core alone. A GPU's is catalogued.
  if (rank == 0 && device->is_host()) {
    recorder.record_scalar("gemm_peak_tflops", first_step,
                           measure_gemm_peak_tflops(*device, workload::activation_type(run_case.precision)));
    record_half_conversion(recorder, *device, specs, first_step);
  }
  device->forget_memory_peak();
  strategy->share_parameters();
  Loader loader(*dataset, DistributedSampler(dataset->size(), world_size, rank, run_case.seed), run_case,
                *device, probe, std::int64_t{first_step} * run_case.accumulate);
  StepGradients gradients(run_case, loader, *model, *strategy, *optimizer, probe, graphs, !loss_scale.wanted());
  GradientNoise noise(run_case, first_measured, *strategy, recorder);
  const InjectedFaults faults(rank, world_size, probe);

  TrainResult result;
  result.steps_done = first_step;
  bool ends = false;
  std::uint32_t last_step = first_step;
  std::uint32_t probed = 0;  // steps with the probes on
  monitor.on_begin(first_step);
  clock.start(first_step, first_measured);
  for (std::uint32_t step = first_step; step < static_cast<std::uint32_t>(run_case.total_steps()) && !ends;
       ++step) {
    const bool has_probes = is_probed(step, first_measured);
    clock.begin_step(step);
    run_queue.begin_step(has_probes);
    gradients.begin_step(step, first_step, loss_scale.value());
    noise.begin_step(step);
    faults.begin_step(step, probe);
    const UpdateNumbers numbers{step - loss_scale.skipped(), learning_rate(run_case, step)};
    const double loss = gradients.compute(numbers, [&](double own_loss) { target.submit(step, own_loss); });
    const bool finite = !loss_scale.wanted() || strategy->unscale(loss_scale.value());
    if (finite) {
      noise.end_backward(step);
      if (!gradients.updated()) strategy->update(*optimizer, numbers.updates, numbers.lr);
    }
    clock.wait_for_device();
    graphs.record();

    if (!std::isfinite(loss)) refuse_to_go_on(run_case, rank, step, loss);
    result.reached_target = target.ends_training(step);
    const TrainingEnd end = monitor.end_after(step);
    ends = result.reached_target || end.is_last;
    if (step == first_step) {
      result.loss_first = loss;
      record_memory(recorder, *device, *optimizer, step);
    }
    result.loss_last = loss;
    recorder.record_scalar("loss", step, loss);
    if (rank == 0 && loss_scale.wanted()) {
      recorder.record_scalar("loss_scale", step, loss_scale.value());
      recorder.record_scalar("skipped_update", step, finite ? 0 : 1);
    }
    if (loss_scale.wanted()) loss_scale.after_step(finite);
    // Of the step that reaches the target none is written: who continued from it would train one step more.
    if (!result.reached_target) checkpointer.after_step(step, end.writes_checkpoint);
    last_step = step;
    result.steps_done = step + 1;
    monitor.on_step(step, loss);
    run_queue.end_step(step, has_probes);
    if (has_probes) {
      monitor.on_own_time({++probed, probe.has_queue() ? -1 : probe.sums().compute_ns, probe.sums().data_ns, run_queue.main_ns()});
    }
    links.end_step(step, has_probes);
    monitor.on_step_time(step, clock.end_step());
  }
  recorder.set_enabled(true);
  record_probe_cost(recorder, run_queue.cost_ns() + links.cost_ns(), last_step, probed);
  record_memory(recorder, *device, *optimizer, last_step);
  ParameterHash hash;
  ReportedWork work(monitor, LongWork::kHashParameters);
  strategy->read_values([&](std::size_t parameter, const float* values) {
    hash.add({values, static_cast<std::size_t>(specs[parameter].elements())});
    work.piece_done();
  });
  result.parameter_hash = hash.text();
  return result;
}

TrainResult train(const RunCase& run_case, collective::Communicator& communicator, host::Recorder& recorder,
                  TrainingMonitor& monitor, const CheckpointPlan& checkpoints, cuda::CudaProbe* kernels) {
  try {
    return train_within_memory(run_case, communicator, recorder, monitor, checkpoints, kernels);
  } catch (const Error& error) {
    if (error.where() != "allocate") throw;
    const std::int64_t needed = largest_footprint(run_case).total();
    const std::vector<std::string> ways = ways_to_fit(run_case, needed * 3 / 4);
    throw Error(error.code(),
                fmt::format("{}. The tensors of a rank need {}; what needs three quarters of that or less: {}",
                            error.message(), quantity(static_cast<double>(needed), "B"),
                            ways.empty() ? "nothing but a smaller model" : fmt::format("{}", fmt::join(ways, ", "))),
                error.native_code(), error.where());
  }
}

}  // namespace ddbench::ddp
