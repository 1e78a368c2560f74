#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "device_under_test.h"
#include "forked_ranks.h"
#include "harness/model/workload.h"
#include "probes/recorder/recorder.h"

namespace ddbench::workload {

/// A workload's model on the CPU with memory for everything, and the first samples of its synthetic data.
class ModelUnderTest {
 public:
  ModelUnderTest(const std::string& name, const WorkloadOptions& options, std::int64_t batch,
                 device::DataType precision = device::DataType::kFloat32);

  double loss() { return model_->forward(batch_, probe_); }
  void backward(const GradientReady& ready) { model_->backward(batch_, probe_, ready); }
  /// Loss and gradients.
  double compute() {
    const double value = loss();
    backward([](std::size_t) {});
    return value;
  }
  /// One step of SGD with momentum 0.9.
  void step(float lr);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  const Workload& workload() const { return *workload_; }

 private:
  device::Tensor tensor(std::int64_t rows, std::int64_t columns,
                        device::DataType type = device::DataType::kFloat32);

  test::TemporaryDirectory directory_;
  host::Recorder recorder_{host::RecorderOptions{.spool = directory_.path() / "spool", .run_id = "test"}};
  Probe probe_{recorder_};
  std::unique_ptr<device::Device> device_ = test::device_under_test();
  std::unique_ptr<Workload> workload_;
  std::vector<device::Buffer> memory_;
  std::vector<Parameter> parameters_;
  std::vector<device::Tensor> velocities_;
  std::unique_ptr<Model> model_;
  Batch batch_;
};

}  // namespace ddbench::workload
