#pragma once

#include <fmt/format.h>

#include <string>

namespace ddbench::analyzer {

/// "1 GPU", "4 GPUs"
inline std::string gpus(int count) {
  return fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

}  // namespace ddbench::analyzer
