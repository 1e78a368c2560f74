#include <fmt/format.h>

#include <algorithm>

#include "ddbench/record/error.h"
#include "ddbench/workload/workload.h"
#include "models.h"

namespace ddbench::workload {

const std::vector<WorkloadInfo>& workloads() {
  static const std::vector<WorkloadInfo> all{
      mlp_info(),        resnet18_info(),   resnet50_info(),    gpt2_info("nano"), gpt2_info("124m"),
      gpt2_info("355m"), gpt2_info("774m"), gpt2_info("1558m"), bert_info("base"), bert_info("large"),
  };
  return all;
}

namespace {

template <typename Item>
std::string names(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ", ") + item.name;
  return text;
}

template <typename Item>
const Item* find(const std::vector<Item>& items, std::string_view name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

std::unique_ptr<Workload> make_workload(std::string_view name, const WorkloadOptions& options) {
  const WorkloadInfo* const info = find(workloads(), name);
  if (info == nullptr) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("workload \"{}\" is not known; workloads: {}", name, names(workloads())));
  }
  for (const auto& [option, value] : options) {
    if (find(info->options, option) != nullptr) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("workload {} has no option \"{}\"; options: {}", name,
                                                  option, names(info->options)));
  }
  return info->make(options);
}

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
