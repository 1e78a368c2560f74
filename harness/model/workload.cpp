#include "harness/model/workload.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench::workload {

device::DataType activation_type(std::string_view precision) {
  if (precision == "fp32" || precision == "tf32") return device::DataType::kFloat32;
  if (precision == "bf16") return device::DataType::kBfloat16;
  if (precision == "fp16") return device::DataType::kFloat16;
  throw Error(ErrorCode::kBadInput,
              fmt::format("precision \"{}\" is not supported; supported: fp32, tf32, bf16, fp16", precision));
}

double Workload::flops_per_sample() const {
  double flops = 0;
  for (const LayerFlops& layer : layer_flops()) flops += layer.forward + layer.backward;
  return flops;
}

double Workload::hardware_flops_per_sample() const {
  double flops = flops_per_sample();
  for (const LayerFlops& layer : layer_flops()) flops += layer.recomputed;
  return flops;
}

std::int64_t parameter_count(const Workload& workload) {
  std::int64_t count = 0;
  for (const ParameterSpec& parameter : workload.parameters()) count += parameter.elements();
  return count;
}

std::int64_t gradient_bytes(const Workload& workload) {
  return parameter_count(workload) * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace ddbench::workload
