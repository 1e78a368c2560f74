// The life of a rank of `ddbench micro` after rendezvous, top to bottom.
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "analyzer/collectives/micro_table.h"
#include "core/run_case/program_case.h"
#include "harness/device/device.h"
#include "harness/microbench/collective_call.h"
#include "harness/microbench/lock_step.h"
#include "harness/microbench/micro.h"
#include "harness/microbench/plan.h"

namespace ddbench::micro {
namespace {

using analyzer::MicroOperation;
using device::Tensor;

// A rank's executable, device and rings, and the kernel's memory for its connections (ddp/src/check.cpp).
constexpr std::int64_t kProcessBytes = std::int64_t{36} << 20;

/// A GEMM's third matrix and its bias.
std::int64_t weight_bytes(const MicroOptions& options) {
  for (const MicroOperation operation : options.operations) {
    if (operation == MicroOperation::kGemm)
      return (kLargestGemmRows * kLargestGemmRows + kLargestGemmRows) * kElementBytes;
  }
  return kElementBytes;
}

class Meter {
 public:
  Meter(const RunCase& run_case, collective::Communicator& communicator, host::Recorder& recorder,
        ddp::TrainingMonitor& monitor)
      : run_case_(run_case),
        communicator_(communicator),
        recorder_(recorder),
        monitor_(monitor),
        options_(micro_options(run_case)),
        plan_(plan_measurements(run_case)),
        device_(device::make_device(run_case.device, {.rank = communicator.rank()})) {
    input_ = tensor(buffer_bytes(options_));
    output_ = tensor(buffer_bytes(options_));
    weight_ = tensor(weight_bytes(options_));
  }

  void run() {
    std::uint32_t reported = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      measure(plan_[i]);
      // Progress is counted in steps of the case, however many measurements there are.
      const auto steps = static_cast<std::uint32_t>(static_cast<std::size_t>(run_case_.total_steps()) *
                                                    (i + 1) / plan_.size());
      if (steps == reported) continue;
      reported = steps;
      monitor_.on_step(steps - 1, std::numeric_limits<double>::quiet_NaN());
    }
  }

 private:
  Tensor tensor(std::int64_t bytes) {
    memory_.push_back(device_->allocate(bytes));
    return {memory_.back().data(), 1, bytes / kElementBytes, device::DataType::kFloat32};
  }

  void measure(const Measurement& measurement) {
    name_ = analyzer::to_string(measurement.operation);
    monitor_.on_collective_begin(name_, ++sequence_);
    is_collective(measurement.operation) ? measure_collective(measurement) : measure_ceiling(measurement);
    monitor_.on_collective_end(sequence_);
  }

  /// For the watchdog: a batch of a large size may take minutes over a slow link.
  void mark_progress() {
    monitor_.on_collective_end(sequence_);
    monitor_.on_collective_begin(name_, ++sequence_);
  }

  TimedBatches timed(const std::function<void()>& call, const std::function<void()>& finish = {}) {
    return time_in_lock_step(communicator_, options_.seconds, call, finish, [this] { mark_progress(); });
  }

  void measure_collective(const Measurement& measurement) {
    CollectiveCall call(measurement, input_, output_, communicator_, *device_);
    const std::int64_t wrong = call.count_wrong();
    mark_progress();
    call.fill_with_zeros();
    store(measurement, timed([&] { call.run(); }), 0, wrong);
  }

  void measure_ceiling(const Measurement& measurement) {
    const std::int64_t n = measurement.count;
    const auto synchronize = [&] { device_->synchronize(); };
    if (measurement.operation == MicroOperation::kCopy) {
      const Tensor from = input_.part(0, n);
      const Tensor to = output_.part(0, n);
      return store(measurement, timed([&] { device_->copy(from, to); }, synchronize), 2.0 * static_cast<double>(n * kElementBytes), 0);
    }
    const Tensor x{input_.data, n, n};
    const Tensor y{output_.data, n, n};
    const Tensor weight{weight_.data, n, n};
    const Tensor bias = weight_.part(n * n, n);
    const auto multiply = [&] { device_->linear_forward(x, weight, bias, device::Activation::kNone, y); };
    store(measurement, timed(multiply, synchronize),
          2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n), 0);
  }

  void store(const Measurement& measurement, const TimedBatches& timed, double work, std::int64_t wrong) {
    const int ranks = communicator_.world_size();
    const auto value = [&](const char* name, double number) {
      recorder_.record_scalar(name, batch_, number);
    };
    value(analyzer::kMicroOperationValue, static_cast<double>(measurement.operation));
    value(analyzer::kMicroBytesValue, static_cast<double>(bytes_of(measurement, ranks)));
    value(analyzer::kMicroInPlaceValue, measurement.in_place ? 1 : 0);
    value(analyzer::kMicroIterationsValue, static_cast<double>(timed.iterations));
    value(analyzer::kMicroWorkValue, work);
    value(analyzer::kMicroWrongValue, static_cast<double>(wrong));
    for (const double time_ns : timed.times_ns) {
      value(analyzer::kMicroTimeValue, time_ns);
      ++batch_;
    }
  }

  const RunCase& run_case_;
  collective::Communicator& communicator_;
  host::Recorder& recorder_;
  ddp::TrainingMonitor& monitor_;
  const MicroOptions options_;
  const std::vector<Measurement> plan_;
  std::unique_ptr<device::Device> device_;
  std::vector<device::Buffer> memory_;
  Tensor input_;
  Tensor output_;
  Tensor weight_;
  std::string_view name_;  ///< of what is measured now
  std::uint64_t sequence_ = 0;
  std::uint32_t batch_ = 0;
};

}  // namespace

void measure(const RunCase& run_case, collective::Communicator& communicator, host::Recorder& recorder,
             ddp::TrainingMonitor& monitor) {
  Meter(run_case, communicator, recorder, monitor).run();
}

std::int64_t memory_per_rank_bytes(const RunCase& run_case) {
  const MicroOptions options = micro_options(run_case);
  return kProcessBytes + 2 * buffer_bytes(options) + weight_bytes(options);
}

std::int64_t usual_max_bytes(std::int64_t available_bytes, int ranks) {
  const std::int64_t usual = MicroOptions{}.max_bytes;
  // Half of the available memory, for two buffers on each rank.
  const std::int64_t fitting = (available_bytes / 2 / ranks - kProcessBytes) / 2;
  std::int64_t bytes = usual;
  while (bytes > fitting && bytes > MicroOptions{}.min_bytes) bytes /= 2;
  return bytes;
}

void limit_max_bytes(RunCase& run_case, std::int64_t available_bytes) {
  WorkOptions& options = std::get<Microbenchmark>(run_case.work).options;
  const std::int64_t fitting = usual_max_bytes(available_bytes, run_case.world_size());
  const std::int64_t usual = std::max(fitting, micro_options(run_case).min_bytes);  // below it the sizes would contradict each other
  if (usual < MicroOptions{}.max_bytes) options.emplace("max_bytes", std::to_string(usual));
}

}  // namespace ddbench::micro
