#include <cmath>

#include "ddbench/workload/model.h"
#include "ddbench/workload/random.h"

namespace ddbench::workload {

void initialize(std::span<const Parameter> parameters, std::uint64_t seed) {
  constexpr std::uint64_t kParameterStream = 0x7061'7261;
  Random random(seed, kParameterStream);
  for (const Parameter& parameter : parameters) {
    const float bound = 1.0F / std::sqrt(static_cast<float>(parameter.spec.fan_in));
    for (float& value : parameter.value.floats()) value = random.uniform(-bound, bound);
  }
}

}  // namespace ddbench::workload
