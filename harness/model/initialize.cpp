#include <cmath>

#include "harness/model/model.h"
#include "harness/model/random.h"

namespace ddbench::workload {

void initialize(device::Device& device, std::span<const Parameter> parameters, std::uint64_t seed) {
  std::vector<ParameterSpec> specs;
  for (const Parameter& parameter : parameters) specs.push_back(parameter.spec);
  draw_values(specs, seed, [&](std::size_t parameter, const float* values) {
    device.upload(values, parameters[parameter].value);
  });
}

void draw_values(std::span<const ParameterSpec> specs, std::uint64_t seed,
                 const std::function<void(std::size_t parameter, const float* values)>& take) {
  constexpr std::uint64_t kParameterStream = 0x7061'7261;
  Random random(seed, kParameterStream);
  std::vector<float> values;
  for (std::size_t parameter = 0; parameter < specs.size(); ++parameter) {
    values.resize(static_cast<std::size_t>(specs[parameter].elements()));
    const Initial& initial = specs[parameter].initial;
    const float bound = 1.0F / std::sqrt(static_cast<float>(specs[parameter].fan_in));
    for (float& value : values) {
      switch (initial.kind) {
        case Initial::Kind::kFanIn: value = random.uniform(-bound, bound); break;
        case Initial::Kind::kNormal: value = initial.value * random.normal(); break;
        case Initial::Kind::kConstant: value = initial.value; break;
      }
    }
    take(parameter, values.data());
  }
}

}  // namespace ddbench::workload
