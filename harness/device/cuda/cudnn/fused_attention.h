#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "harness/device/cuda/cudnn/attention_graphs.h"
#include "harness/device/cuda/kernels/scratch.h"
#include "harness/device/tensor.h"

namespace ddbench::device::cuda {

/// Attention in 16 bits by cuDNN's flash attention engines, which store no scores and read queries, keys and
/// values directly from the packed matrix. The plan for a shape is made when the shape is first seen, and
/// kept. The caller has checked the arguments; they have the same meaning as in NetworkOperators. So do the
/// statistics, so that one pass may run here and the other in another implementation.
///
/// Each pass returns whether it was queued: false, with nothing queued, if cuDNN has no engine for the shape.
class FusedAttention {
 public:
  /// On the stream of `cudnn`, which is the one of `scratch`; both outlive this.
  FusedAttention(cudnnHandle_t cudnn, Scratch& scratch);
  ~FusedAttention();

  /// Whether this version of cuDNN is used at all.
  static bool is_available() noexcept;

  bool forward(const FusedShape& shape, const Tensor& qkv, const Tensor& statistics, const Tensor& y);
  bool backward(const FusedShape& shape, const Tensor& qkv, const Tensor& y, const Tensor& statistics,
                const Tensor& dy, const Tensor& dqkv);

 private:
  enum class Pass : std::uint8_t { kForward, kBackward };
  struct Key {
    Pass pass;
    FusedShape shape;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Plan;
  /// Null where there is none.
  Plan* plan_of(const Key& key);
  void run_backward(Plan& plan, const FusedShape& shape, std::int64_t first, const Tensor& qkv,
                    const Tensor& y, const Tensor& statistics, const Tensor& dy, const Tensor& dqkv);

  cudnnHandle_t cudnn_;
  Scratch& scratch_;
  std::map<Key, std::unique_ptr<Plan>> plans_;
};

}  // namespace ddbench::device::cuda
