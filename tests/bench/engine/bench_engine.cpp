// How near the CPU engine comes to what oneDNN's sgemm gives for its matrix products alone, and what an
// all-reduce costs.
#include <benchmark/benchmark.h>
#include <dnnl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "forked_ranks.h"
#include "harness/collective/communicator.h"
#include "harness/model/architectures/registry.h"
#include "probes/recorder/recorder.h"

namespace ddbench {
namespace {

using Clock = std::chrono::steady_clock;
using device::Tensor;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The default mlp on one rank without collectives: forward, backward, optimizer.
class Step {
 public:
  explicit Step(std::int64_t batch) : batch_(batch) {
    for (const workload::ParameterSpec& spec : workload_->parameters()) {
      parameters_.push_back({spec, tensor(spec.rows, spec.columns), tensor(spec.rows, spec.columns)});
      velocities_.push_back(tensor(spec.rows, spec.columns));
    }
    workload::initialize(*device_, parameters_, 1);
    model_ = workload_->make_model(*device_, parameters_, batch, probe_);
    data_ = {tensor(batch, workload_->sample().features), tensor(batch, 1, device::DataType::kInt32)};
    const auto dataset = workload_->make_dataset("synthetic", 1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
      dataset->read(static_cast<std::int64_t>(i), workload::sample_of(data_, i));
    }
  }

  void run() {
    model_->forward(data_, probe_);
    model_->backward(data_, probe_, [](std::size_t) {});
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      device_->sgd(parameters_[i].value, parameters_[i].gradient, velocities_[i],
                   {.lr = 1e-3F, .momentum = 0.9F});
    }
  }

  /// The matrix products of a step, each as one call of dnnl_sgemm, on the same memory.
  void products() {
    for (const auto& [in, out] : {std::pair<std::int64_t, std::int64_t>{784, 512}, {512, 512}, {512, 10}}) {
      dnnl_sgemm('N', 'T', batch_, out, in, 1, x_.data(), in, w_.data(), in, 0, y_.data(), out);
      dnnl_sgemm('T', 'N', out, in, batch_, 1, y_.data(), out, x_.data(), in, 0, dw_.data(), in);
      if (in != 784)
        dnnl_sgemm('N', 'N', batch_, in, out, 1, y_.data(), out, w_.data(), in, 0, x_.data(), in);
    }
  }

  double flops() const { return workload_->flops_per_sample() * static_cast<double>(batch_); }

 private:
  Tensor tensor(std::int64_t rows, std::int64_t columns, device::DataType type = device::DataType::kFloat32) {
    memory_.push_back(device_->allocate(rows * columns * size_of(type)));
    return {memory_.back().data(), rows, columns, type};
  }

  const std::int64_t batch_;
  test::TemporaryDirectory directory_;
  host::Recorder recorder_{host::RecorderOptions{.spool = directory_.path() / "spool", .run_id = "bench"}};
  workload::Probe probe_{recorder_};
  std::unique_ptr<device::Device> device_ = device::make_device("cpu");
  std::unique_ptr<workload::Workload> workload_ = workload::make_workload("mlp", {});
  std::vector<device::Buffer> memory_;
  std::vector<workload::Parameter> parameters_;
  std::vector<Tensor> velocities_;
  std::unique_ptr<workload::Model> model_;
  workload::Batch data_;
  std::vector<float> x_ = std::vector<float>(static_cast<std::size_t>(batch_ * 784), 0.5F);
  std::vector<float> y_ = std::vector<float>(static_cast<std::size_t>(batch_ * 512), 0.5F);
  std::vector<float> w_ = std::vector<float>(512 * 784, 0.5F);
  std::vector<float> dw_ = std::vector<float>(512 * 784);
};

// Both sides are timed in turn and the fastest of each is compared: other work on the machine only ever adds.
void step_against_sgemm(benchmark::State& state) {
  Step step(state.range(0));
  step.run();
  step.products();
  double step_seconds = 1e9;
  double sgemm_seconds = 1e9;
  for (auto _ : state) {
    const auto begin = Clock::now();
    step.run();
    const double seconds = seconds_since(begin);
    state.SetIterationTime(seconds);
    step_seconds = std::min(step_seconds, seconds);
    const auto sgemm_begin = Clock::now();
    step.products();
    sgemm_seconds = std::min(sgemm_seconds, seconds_since(sgemm_begin));
  }
  state.counters["min_us"] = step_seconds * 1e6;
  state.counters["GFLOP/s"] = step.flops() / step_seconds * 1e-9;
  state.counters["sgemm_GFLOP/s"] = step.flops() / sgemm_seconds * 1e-9;
  state.counters["of_sgemm"] = sgemm_seconds / step_seconds;
}
BENCHMARK(step_against_sgemm)->Arg(16)->Arg(64)->Arg(256)->UseManualTime()->Unit(benchmark::kMicrosecond);

void all_reduce(benchmark::State& state) {
  const int world = static_cast<int>(state.range(0));
  const auto bytes = static_cast<std::size_t>(state.range(1));
  constexpr int kRounds = 20;
  double busbw = 0;
  for (auto _ : state) {
    const auto outcomes = test::run_ranks(world, [&](int rank, collective::KeyValueStore& store) {
      const auto communicator =
          collective::make_communicator("gloo", {.rank = rank, .world_size = world}, store);
      std::vector<float> data(bytes / sizeof(float), 1.0F);
      communicator->all_reduce_sum(data);
      const auto begin = Clock::now();
      for (int round = 0; round < kRounds; ++round) communicator->all_reduce_sum(data);
      return fmt::format("{}", seconds_since(begin) / kRounds);
    });
    const double seconds = std::strtod(outcomes[0].text.c_str(), nullptr);
    state.SetIterationTime(seconds);
    busbw = std::max(busbw, static_cast<double>(bytes) / seconds * 2 * (world - 1) / world);
  }
  state.counters["best_busbw_MB/s"] = busbw * 1e-6;
}
BENCHMARK(all_reduce)
    ->ArgsProduct({{2, 4, 16}, {4 << 10, 1 << 20, 16 << 20}})
    ->ArgNames({"ranks", "bytes"})
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ddbench

BENCHMARK_MAIN();
