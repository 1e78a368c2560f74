#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include "harness/device/cuda/cudnn/cudnn_operations.h"
#include "harness/device/network_operators.h"

/// Attention as cuDNN's flash attention engines recognize it: the formula, operation by operation. The
/// matrices of queries, keys and values, and their gradients, are the columns of the packed matrix.
namespace ddbench::device::cuda {

struct FusedShape {
  AttentionShape attention;
  std::int64_t width = 0;  ///< of a head
  DataType type = DataType::kBfloat16;

  std::int64_t channels() const noexcept { return attention.heads * width; }
  /// Of each [batch, heads, sequence]: one number.
  std::int64_t queries() const noexcept { return attention.batch * attention.heads * attention.sequence; }
  float scale() const noexcept { return 1.0F / std::sqrt(static_cast<float>(width)); }
  friend auto operator<=>(const FusedShape&, const FusedShape&) = default;
};

/// How Execution::run() names the tensors of the graphs below.
enum AttentionTensor : std::int64_t {
  kQueries,
  kKeys,
  kValues,
  kOutput,
  kStatistics,
  kScale,          ///< the host's: FusedShape::scale()
  kMinusInfinity,  ///< the host's; with a causal mask only
  kOne,            ///< the host's
  kOutputGradient,
  kQueriesGradient,
  kKeysGradient,
  kValuesGradient,
  kRowProducts,  ///< backward's scratch: queries() float32
};

/// Reads queries, keys and values; writes output and statistics.
Operations attention_forward_graph(const FusedShape& shape);
/// Reads what forward read and wrote, and the output's gradient; writes the gradients of the first three.
Operations attention_backward_graph(const FusedShape& shape);

}  // namespace ddbench::device::cuda
