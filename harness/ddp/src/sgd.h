#pragma once

#include <vector>

#include "ddbench/device/device.h"
#include "ddbench/workload/model.h"
#include "parameters.h"

namespace ddbench::ddp {

/// torch.optim.SGD(lr, momentum): velocity = momentum * velocity + gradient, parameter -= lr * velocity.
class Sgd {
 public:
  Sgd(const std::vector<workload::ParameterSpec>& specs, double lr, double momentum, device::Device& device,
      workload::Probe& probe)
      : lr_(static_cast<float>(lr)),
        momentum_(static_cast<float>(momentum)),
        device_(device),
        name_(probe.intern("sgd")),
        velocities_(specs, device) {}

  void step(const std::vector<workload::Parameter>& parameters, workload::Probe& probe) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto span = probe.span(SpanKind::kOptimizer, name_, parameters[i].spec.bytes());
      device_.sgd(parameters[i].value, parameters[i].gradient, velocities_.tensors()[i],
                  {.lr = lr_, .momentum = momentum_});
    }
  }

 private:
  const float lr_;
  const float momentum_;
  device::Device& device_;
  const std::uint32_t name_;
  ParameterMemory velocities_;
};

}  // namespace ddbench::ddp
