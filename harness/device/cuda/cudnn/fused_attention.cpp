#include "harness/device/cuda/cudnn/fused_attention.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

namespace ddbench::device::cuda {
namespace {

constexpr std::size_t kOldestVersion = 91600;  // before it, sequences that 128 does not divide went wrong
constexpr std::int64_t kMostWidth = 128;
constexpr std::int64_t kMostKeptBytes = std::int64_t{256} << 20;  // of scores, by the engine of backward

/// The memory of a graph's tensors, and the numbers that cuDNN reads from the host's while it starts one.
class Places {
 public:
  explicit Places(const FusedShape& shape) : scale_(shape.scale()) {
    put(kScale, &scale_);
    if (shape.attention.mask == AttentionMask::kCausal) put(kMinusInfinity, &minus_infinity_);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  void put(AttentionTensor id, void* memory) {
    ids_.push_back(id);
    memory_.push_back(memory);
  }
  void put_one() { put(kOne, &one_); }
  /// A third of a packed matrix each, from row `row` on.
  void put_thirds(AttentionTensor q, AttentionTensor k, AttentionTensor v, const Tensor& packed,
                  std::int64_t row) {
    auto* const data = static_cast<std::byte*>(packed.data) + row * packed.columns * size_of(packed.type);
    const std::int64_t third = packed.columns / 3 * size_of(packed.type);
    put(q, data);
    put(k, data + third);
    put(v, data + 2 * third);
  }
  void put_rows(AttentionTensor id, const Tensor& tensor, std::int64_t row) {
    put(id, static_cast<std::byte*>(tensor.data) + row * tensor.columns * size_of(tensor.type));
  }
  void run(Execution& execution, void* workspace) { execution.run(ids_, memory_, workspace); }

 private:
  float scale_;
  float one_ = 1.0F;
  float minus_infinity_ = -std::numeric_limits<float>::infinity();
  std::vector<std::int64_t> ids_;
  std::vector<void*> memory_;
};

/// What the engines ask for, some of them silently.
bool is_suitable(const FusedShape& shape, std::initializer_list<Tensor> tensors) {
  const bool is_aligned = std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.data) % Operations::kAlignment == 0;
  });
  return FusedAttention::is_available() && shape.type != DataType::kFloat32 && shape.width % 8 == 0 &&
         shape.width <= kMostWidth && shape.attention.sequence > 1 && is_aligned;
}

/// The samples that one call of the backward engine takes: it keeps a matrix of scores in 16 bits of each
/// head, in tiles of up to 128 rows and columns. By fours, so that the statistics of the next ones are
/// aligned too.
std::int64_t samples_at_once(const AttentionShape& shape) {
  const std::int64_t kept = (shape.sequence + 127) / 128 * 128;
  const std::int64_t bytes = shape.heads * kept * kept * 2;
  const std::int64_t most = std::max<std::int64_t>(kMostKeptBytes / bytes, 1);
  if (most >= shape.batch) return shape.batch;
  return most < 4 ? most : most / 4 * 4;
}

}  // namespace

struct FusedAttention::Plan {
  Plan(cudnnHandle_t cudnn, Operations graph)
      : operations(std::move(graph)), execution(cudnn, operations.all(), {}) {}

  Operations operations;
  Execution execution;
};

FusedAttention::FusedAttention(cudnnHandle_t cudnn, Scratch& scratch) : cudnn_(cudnn), scratch_(scratch) {}

FusedAttention::~FusedAttention() = default;

bool FusedAttention::is_available() noexcept {
  return cudnnGetVersion() >= kOldestVersion;
}

FusedAttention::Plan* FusedAttention::plan_of(const Key& key) {
  auto found = plans_.find(key);
  if (found == plans_.end()) {
    Operations graph =
        key.pass == Pass::kForward ? attention_forward_graph(key.shape) : attention_backward_graph(key.shape);
    found = plans_.emplace(key, std::make_unique<Plan>(cudnn_, std::move(graph))).first;
  }
  return found->second->execution.has_engine() ? found->second.get() : nullptr;
}

bool FusedAttention::forward(const FusedShape& shape, const Tensor& qkv, const Tensor& statistics,
                             const Tensor& y) {
  Plan* const plan = is_suitable(shape, {qkv, statistics, y}) ? plan_of({Pass::kForward, shape}) : nullptr;
  if (plan == nullptr) return false;
  Places places(shape);
  places.put_thirds(kQueries, kKeys, kValues, qkv, 0);
  places.put(kOutput, y.data);
  places.put(kStatistics, statistics.data);
  places.run(plan->execution, scratch_.bytes(plan->execution.workspace_bytes()));
  return true;
}

bool FusedAttention::backward(const FusedShape& shape, const Tensor& qkv, const Tensor& y,
                              const Tensor& statistics, const Tensor& dy, const Tensor& dqkv) {
  if (!is_suitable(shape, {qkv, y, statistics, dy, dqkv})) return false;
  const std::int64_t batch = shape.attention.batch;
  const std::int64_t at_once = samples_at_once(shape.attention);
  FusedShape piece = shape;
  piece.attention.batch = at_once;
  FusedShape rest = shape;
  rest.attention.batch = batch % at_once;
  if (plan_of({Pass::kBackward, piece}) == nullptr) return false;
  if (rest.attention.batch > 0 && plan_of({Pass::kBackward, rest}) == nullptr) return false;
  for (std::int64_t first = 0; first < batch; first += at_once) {
    const FusedShape& now = batch - first >= at_once ? piece : rest;
    run_backward(*plan_of({Pass::kBackward, now}), now, first, qkv, y, statistics, dy, dqkv);
  }
  return true;
}

void FusedAttention::run_backward(Plan& plan, const FusedShape& shape, std::int64_t first, const Tensor& qkv,
                                  const Tensor& y, const Tensor& statistics, const Tensor& dy,
                                  const Tensor& dqkv) {
  const std::int64_t row = first * shape.attention.sequence;
  const auto [workspace, row_products] =
      scratch_.pieces({plan.execution.workspace_bytes(), shape.queries() * std::int64_t{sizeof(float)}});
  Places places(shape);
  places.put_one();
  places.put_thirds(kQueries, kKeys, kValues, qkv, row);
  places.put_thirds(kQueriesGradient, kKeysGradient, kValuesGradient, dqkv, row);
  places.put_rows(kOutput, y, row);
  places.put_rows(kOutputGradient, dy, row);
  places.put_rows(kStatistics, statistics, first * shape.attention.heads);
  places.put(kRowProducts, row_products);
  places.run(plan.execution, workspace);
}

}  // namespace ddbench::device::cuda
