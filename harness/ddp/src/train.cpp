// The whole life of a DDP worker after rendezvous, top to bottom.
#include "ddbench/ddp/train.h"

#include <fmt/format.h>

#include <cmath>

#include "ddbench/ddp/bucket_plan.h"
#include "ddbench/device/device.h"
#include "ddbench/record/clock.h"
#include "ddbench/record/error.h"
#include "ddbench/workload/workload.h"
#include "loader.h"
#include "parameters.h"
#include "reducer.h"
#include "sgd.h"
#include "step_clock.h"

namespace ddbench::ddp {
namespace {

std::vector<Bucket> buckets_of(const RunCase& run_case, const std::vector<workload::ParameterSpec>& specs) {
  std::vector<std::int64_t> bytes;
  for (const workload::ParameterSpec& spec : specs) bytes.push_back(spec.bytes());
  return plan_buckets(bytes, run_case.first_bucket_bytes, run_case.bucket_bytes);
}

std::vector<workload::Parameter> join(const std::vector<workload::ParameterSpec>& specs,
                                      const std::vector<device::Tensor>& values,
                                      const std::vector<device::Tensor>& gradients) {
  std::vector<workload::Parameter> parameters;
  for (std::size_t i = 0; i < specs.size(); ++i) parameters.push_back({specs[i], values[i], gradients[i]});
  return parameters;
}

void refuse_to_go_on(const RunCase& run_case, int rank, std::uint32_t step, double loss) {
  throw Error(
      ErrorCode::kRunFailed,
      fmt::format(
          "rank {}: the loss became {} in step {}: training diverged. Lower --lr (it is {}) or the batch.",
          rank, loss, step, run_case.lr),
      0, "train");
}

}  // namespace

TrainResult train(const RunCase& run_case, collective::Communicator& communicator, host::Recorder& recorder,
                  TrainingMonitor& monitor) {
  check_supported(run_case);
  const int rank = communicator.rank();
  const int world_size = communicator.world_size();

  const auto workload = workload::make_workload(run_case.workload, run_case.workload_options);
  const auto device = device::make_device(run_case.device);
  const auto dataset = workload->make_dataset(run_case.data, run_case.seed);

  workload::Probe probe(recorder);
  Loader loader(*dataset, DistributedSampler(dataset->size(), world_size, rank, run_case.seed), run_case,
                *device, probe);
  const std::vector<workload::ParameterSpec> specs = workload->parameters();
  const ParameterMemory values(specs, *device);
  Reducer reducer(specs, buckets_of(run_case, specs), communicator, *device, recorder, monitor, probe);
  const std::vector<workload::Parameter> parameters = join(specs, values.tensors(), reducer.gradients());
  const auto model = workload->make_model(*device, parameters, run_case.batch_per_gpu, probe);
  Sgd optimizer(specs, run_case.lr, run_case.momentum, *device, probe);
  const workload::GradientReady on_ready = [&reducer](std::size_t parameter) { reducer.on_ready(parameter); };

  // Every rank draws parameters of its own, as processes of a DDP program do; rank 0's count.
  workload::initialize(parameters, run_case.seed + static_cast<std::uint64_t>(rank));
  reducer.broadcast_parameters(values.floats());

  TrainResult result;
  StepClock clock(run_case, recorder, probe);
  for (std::uint32_t step = 0; step < static_cast<std::uint32_t>(run_case.total_steps()); ++step) {
    clock.begin_step(step);
    const workload::Batch& batch = loader.next(probe);
    const double loss = model->forward(batch, probe);
    reducer.begin_step();
    model->backward(batch, probe, on_ready);

    clock.pause_host();
    reducer.wait();
    clock.resume_host();

    optimizer.step(parameters, probe);
    if (!std::isfinite(loss)) refuse_to_go_on(run_case, rank, step, loss);
    if (step == 0) result.loss_first = loss;
    result.loss_last = loss;
    recorder.record_scalar("loss", step, loss);
    monitor.on_step(step, loss);
    clock.end_step();
  }
  recorder.set_enabled(true);
  result.parameter_hash = hash_of(parameters);
  return result;
}

}  // namespace ddbench::ddp
