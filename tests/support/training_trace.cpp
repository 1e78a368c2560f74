// Trains a workload on one rank with torch.optim.SGD's rule and writes down all that another implementation
// needs to do the same, and what came out:
//   training_trace DIRECTORY WORKLOAD BATCH STEPS LR MOMENTUM [option=value ...]
// DIRECTORY/trace.json: the shape of a sample, the parameters' names and shapes, the loss before each step.
// DIRECTORY/trace.bin: the parameters' first values, then inputs and labels of each step.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/error.h"
#include "device_under_test.h"
#include "harness/model/architectures/registry.h"
#include "probes/recorder/recorder.h"

namespace ddbench::workload {
namespace {

constexpr std::uint64_t kSeed = 1;

struct Task {
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
    const auto model = workload_->make_model(*device_, parameters_, task_.batch, probe_);
    for (int step = 0; step < task_.steps; ++step) {
      for (std::int64_t i = 0; i < task_.batch; ++i) {
        dataset->read(step * task_.batch + i, sample_of(batch, static_cast<std::size_t>(i)));
      }
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
    bin_.write(static_cast<const char*>(values.data), values.bytes());
  }

  const Task task_;
  host::Recorder recorder_{host::RecorderOptions{.spool = task_.directory / "spool", .run_id = "trace"}};
  Probe probe_{recorder_};
  std::unique_ptr<device::Device> device_ = test::device_under_test();
  std::unique_ptr<Workload> workload_;
  std::ofstream bin_;
  std::vector<device::Buffer> memory_;
  std::vector<Parameter> parameters_;
  std::vector<device::Tensor> velocities_;
  std::vector<double> losses_;
};

Task parse(int count, char** words) {
  if (count < 7) throw Error(ErrorCode::kBadInput, "see the head of training_trace.cpp");
  Task task{.directory = words[1],
            .workload = words[2],
            .options = {},
            .batch = std::atoll(words[3]),
            .steps = std::atoi(words[4]),
            .sgd = {.lr = std::strtof(words[5], nullptr), .momentum = std::strtof(words[6], nullptr)}};
  for (int i = 7; i < count; ++i) {
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
