#include <cmath>

#include "harness/model/model.h"
#include "harness/model/random.h"

namespace ddbench::workload {

void initialize(device::Device& device, std::span<const Parameter> parameters, std::uint64_t seed) {
  constexpr std::uint64_t kParameterStream = 0x7061'7261;
  Random random(seed, kParameterStream);
  std::vector<float> values;
  for (const Parameter& parameter : parameters) {
    values.resize(static_cast<std::size_t>(parameter.spec.elements()));
    const Initial& initial = parameter.spec.initial;
    const float bound = 1.0F / std::sqrt(static_cast<float>(parameter.spec.fan_in));
    for (float& value : values) {
      switch (initial.kind) {
        case Initial::Kind::kFanIn: value = random.uniform(-bound, bound); break;
        case Initial::Kind::kNormal: value = initial.value * random.normal(); break;
        case Initial::Kind::kConstant: value = initial.value; break;
      }
    }
    device.upload(values.data(), parameter.value);
  }
}

}  // namespace ddbench::workload
