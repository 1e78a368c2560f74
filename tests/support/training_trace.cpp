// Trains a workload on one rank with torch.optim.SGD's rule and writes down all that another implementation
// needs to do the same, and what came out:
//   training_trace DEVICE PRECISION DIRECTORY WORKLOAD BATCH STEPS LR MOMENTUM [option=value ...]
// DEVICE: cpu or cuda. PRECISION: fp32 or bf16.
// DIRECTORY/trace.json: the shape of a sample, the parameters' names and shapes, the loss before each step.
// DIRECTORY/trace.bin: the parameters' first values, then inputs and labels of each step.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/error.h"
#include "harness/device/device.h"
#include "harness/model/architectures/registry.h"
#include "probes/recorder/recorder.h"

namespace ddbench::workload {
namespace {

constexpr std::uint64_t kSeed = 1;

struct Task {
  std::string device;
  std::string precision;
  std::filesystem::path directory;
  std::string workload;
  WorkloadOptions options;
  std::int64_t batch;
  int steps;
  device::SgdSettings sgd;
};

class Trace {
 public:
  explicit Trace(const Task& task)
      : task_(task),
        device_(device::make_device(task.device)),
        workload_(make_workload(task.workload, task.options)),
        bin_(task.directory / "trace.bin") {
    for (const ParameterSpec& spec : workload_->parameters()) {
      parameters_.push_back({spec, tensor(spec.rows, spec.columns), tensor(spec.rows, spec.columns)});
      velocities_.push_back(tensor(spec.rows, spec.columns));
    }
    initialize(*device_, parameters_, kSeed);
    for (const Parameter& parameter : parameters_) write(parameter.value);
  }

  void train() {
    const auto dataset = workload_->make_dataset("synthetic", kSeed);
    const SampleShape shape = dataset->shape();
    const Batch batch{tensor(task_.batch, shape.features, shape.type),
                      tensor(task_.batch, shape.labels, device::DataType::kInt32)};
    const device::Buffer inputs = device_->allocate_host(batch.inputs.bytes());
    const device::Buffer labels = device_->allocate_host(batch.labels.bytes());
    Batch on_host = batch;
    on_host.inputs.data = inputs.data();
    on_host.labels.data = labels.data();
    const auto model = workload_->make_model(*device_, parameters_, task_.batch, probe_, activation_type(task_.precision));
    for (int step = 0; step < task_.steps; ++step) {
      for (std::int64_t i = 0; i < task_.batch; ++i) {
        dataset->read(step * task_.batch + i, sample_of(on_host, static_cast<std::size_t>(i)));
      }
      device_->upload(on_host.inputs.data, batch.inputs);
      device_->upload(on_host.labels.data, batch.labels);
      device_->synchronize();
      write(batch.inputs);
      write(batch.labels);
      losses_.push_back(model->forward(batch, probe_));
      model->backward(batch, probe_, [](std::size_t) {});
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        device_->sgd(parameters_[i].value, parameters_[i].gradient, velocities_[i], task_.sgd);
      }
    }
  }

  void describe() const {
    std::string parameters;
    for (const Parameter& parameter : parameters_) {
      parameters += fmt::format("{}[\"{}\", {}, {}]", parameters.empty() ? "" : ", ", parameter.spec.name,
                                parameter.spec.rows, parameter.spec.columns);
    }
    const SampleShape shape = workload_->sample();
    std::ofstream(task_.directory / "trace.json") << fmt::format(
        "{{\"features\": {}, \"tokens\": {}, \"labels\": {}, \"parameters\": [{}], \"losses\": [{}]}}\n",
        shape.features, shape.type == device::DataType::kInt32, shape.labels, parameters,
        fmt::join(losses_, ", "));
  }

 private:
  device::Tensor tensor(std::int64_t rows, std::int64_t columns,
                        device::DataType type = device::DataType::kFloat32) {
    memory_.push_back(device_->allocate(rows * columns * size_of(type)));
    return {memory_.back().data(), rows, columns, type};
  }
  void write(const device::Tensor& values) {
    std::vector<char> bytes(static_cast<std::size_t>(values.bytes()));
    device_->download(values, bytes.data());
    bin_.write(bytes.data(), values.bytes());
  }

  const Task task_;
  host::Recorder recorder_{host::RecorderOptions{.spool = task_.directory / "spool", .run_id = "trace"}};
  Probe probe_{recorder_};
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<Workload> workload_;
  std::ofstream bin_;
  std::vector<device::Buffer> memory_;
  std::vector<Parameter> parameters_;
  std::vector<device::Tensor> velocities_;
  std::vector<double> losses_;
};

Task parse(int count, char** words) {
  if (count < 9) throw Error(ErrorCode::kBadInput, "see the head of training_trace.cpp");
  Task task{.device = words[1],
            .precision = words[2],
            .directory = words[3],
            .workload = words[4],
            .options = {},
            .batch = std::atoll(words[5]),
            .steps = std::atoi(words[6]),
            .sgd = {.lr = std::strtof(words[7], nullptr), .momentum = std::strtof(words[8], nullptr)}};
  for (int i = 9; i < count; ++i) {
    const std::string option = words[i];
    const std::size_t equals = option.find('=');
    task.options[option.substr(0, equals)] = option.substr(equals + 1);
  }
  return task;
}

}  // namespace
}  // namespace ddbench::workload

int main(int count, char** words) try {
  ddbench::workload::Trace trace(ddbench::workload::parse(count, words));
  trace.train();
  trace.describe();
} catch (const ddbench::Error& error) {
  fmt::print(stderr, "training_trace: {}\n", error.message());
  return 1;
}
