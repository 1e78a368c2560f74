// The loss and its gradient: a block of threads takes a row of logits.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

/// 1 / labels that count, or 0 where none does.
__global__ void share_of_labels(const std::int32_t* labels, std::int64_t rows, float* share) {
  float counted = 0;
  for (std::int64_t i = threadIdx.x; i < rows; i += blockDim.x) counted += labels[i] != kIgnoredLabel;
  const float total = block_sum(counted);
  if (threadIdx.x == 0) *share = total > 0.0F ? 1.0F / total : 0.0F;
}

/// The largest of some numbers, and the sum of e^(number - largest), found in one pass (Milakov, Gimelshein 2018).
struct Exponentials {
  float most = -INFINITY;
  float sum = 0;

  __device__ void add(float value) {
    if (value > most) {
      sum = sum * expf(most - value) + 1.0F;
      most = value;
    } else if (value != -INFINITY) {
      sum += expf(value - most);
    }
  }
};

struct LogitRows {
  std::int64_t classes;
  std::int64_t leading;   // of the logits
  std::int64_t dleading;  // of their gradient
};

/// dlogits may be logits.
template <typename T>
__global__ void cross_entropy_row(const T* logits, const std::int32_t* labels, LogitRows rows, const float* share,
                                  float scale, float* losses, T* dlogits) {
  const std::int64_t row = blockIdx.x;
  const std::int64_t classes = rows.classes;
  const T* const in = logits + row * rows.leading;
  T* const out = dlogits + row * rows.dleading;
  const std::int32_t label = labels[row];
  const bool valid = label >= 0 && label < classes;
  if (!valid) {
    for (std::int64_t i = threadIdx.x; i < classes; i += blockDim.x) store(out, i, 0.0F);
    if (threadIdx.x == 0) losses[row] = label == kIgnoredLabel ? 0.0F : NAN;
    return;
  }
  const float of_label = load(in, label);  // before any of `out` is written
  Exponentials own;
  for (std::int64_t i = threadIdx.x; i < classes; i += blockDim.x) own.add(load(in, i));
  const float largest = block_largest(own.most);
  const float sum = block_sum(own.sum != 0.0F ? own.sum * expf(own.most - largest) : 0.0F);
  const float scaled_share = *share * scale;
  const float factor = scaled_share / sum;
  for (std::int64_t i = threadIdx.x; i < classes; i += blockDim.x) {
    const float probability = factor * expf(load(in, i) - largest);
    store(out, i, i == label ? probability - scaled_share : probability);
  }
  if (threadIdx.x == 0) losses[row] = logf(sum) + (largest - of_label);
}

// Of a row that a block keeps in registers; 1,024 threads have 64 each.
constexpr int kRowThreads = 1024;
constexpr int kFewRowPacks = 4;   // up to 32,768 classes (BERT)
constexpr int kMostRowPacks = 8;  // up to 65,536 (GPT-2)

/// This thread's part of a row.
template <typename T, int kPacks>
__device__ Exponentials read_row(const T* in, std::int64_t classes, Pack<T> (&kept)[kPacks]) {
  Exponentials own;
  DDBENCH_UNROLL
  for (int k = 0; k < kPacks; ++k) {
    const std::int64_t first = first_of_pack(k);
    if (first >= classes) break;
    copy_pack(in + first, kept[k].values);
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) {
      if (first + i < classes) own.add(load(kept[k].values, i));
    }
  }
  return own;
}

/// As cross_entropy_row(), but reads the logits once. Rows begin at packs; the one that the last class is in is written
/// as a whole.
template <typename T, int kPacks>
__global__ void __launch_bounds__(kRowThreads)
    cross_entropy_kept_row(const T* logits, const std::int32_t* labels, LogitRows rows, const float* share, float scale,
                           float* losses, T* dlogits) {
  const std::int64_t row = blockIdx.x;
  const T* const in = logits + row * rows.leading;
  T* const out = dlogits + row * rows.dleading;
  const std::int32_t label = labels[row];
  const bool valid = label >= 0 && label < rows.classes;
  const float of_label = valid ? load(in, label) : 0.0F;  // before any of `out` is written
  Pack<T> kept[kPacks];
  const Exponentials own = read_row(in, rows.classes, kept);
  const float largest = block_largest(own.most);
  const float sum = block_sum(own.sum != 0.0F ? own.sum * expf(own.most - largest) : 0.0F);
  const float scaled_share = valid ? *share * scale : 0.0F;
  const float factor = valid ? scaled_share / sum : 0.0F;
  DDBENCH_UNROLL
  for (int k = 0; k < kPacks; ++k) {
    const std::int64_t first = first_of_pack(k);
    if (first >= rows.classes) break;
    float slopes[kPack];
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) {
      const bool counts = valid && first + i < rows.classes;
      slopes[i] = counts ? factor * expf(load(kept[k].values, i) - largest) : 0.0F;
      if (first + i == label) slopes[i] -= scaled_share;
    }
    store_pack(out, first, slopes);
  }
  if (threadIdx.x != 0) return;
  const float ignored = label == kIgnoredLabel ? 0.0F : NAN;
  losses[row] = valid ? logf(sum) + (largest - of_label) : ignored;
}

/// Whether the kernel above can, and does it.
template <typename T>
bool keep_rows(cudaStream_t stream, const Tensor& logits, const std::int32_t* labels, const float* share, float scale,
               float* losses, const Tensor& dlogits) {
  const T* const in = elements_of<const T>(logits);
  T* const out = elements_of<T>(dlogits);
  const LogitRows rows{logits.columns, logits.leading(), dlogits.leading()};
  const std::int64_t packs = (rows.classes + kPack - 1) / kPack;
  const bool begins_packs = are_packs(in, out) && rows.leading % kPack == 0 && rows.dleading % kPack == 0;
  if (!begins_packs || packs > kMostRowPacks * kRowThreads) return false;
  const std::int64_t warps = (packs + 31) / 32;
  const int threads = static_cast<int>(warps * 32 < kRowThreads ? warps * 32 : kRowThreads);
  const auto kernel =
      packs <= kFewRowPacks * kRowThreads ? cross_entropy_kept_row<T, kFewRowPacks> : cross_entropy_kept_row<T, kMostRowPacks>;
  launch(stream, blocks_of(logits.rows), threads, kernel, in, labels, rows, share, scale, losses, out);
  return true;
}
/// float32 would need twice the registers.
template <>
bool keep_rows<float>(cudaStream_t, const Tensor&, const std::int32_t*, const float*, float, float*, const Tensor&) {
  return false;
}

__global__ void mean_loss(const float* losses, std::int64_t rows, const float* share, float* loss) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < rows; i += kThreads) sum += static_cast<double>(losses[i]);
  const double total = sum_of_threads(sum);
  if (threadIdx.x == 0) *loss = static_cast<float>(total * static_cast<double>(*share));
}

}  // namespace

void softmax_cross_entropy(cudaStream_t stream, const Tensor& logits, const Tensor& labels,
                           const Tensor& loss, float scale, const Tensor& dlogits, float* losses) {
  const auto* const label = elements_of<const std::int32_t>(labels);
  float* const share = losses + logits.rows;
  launch(stream, 1, 1024, share_of_labels, label, logits.rows, share);
  with_type(logits.type, [&](auto type) {
    using T = decltype(type);
    if (keep_rows<T>(stream, logits, label, share, scale, losses, dlogits)) return;
    launch(stream, blocks_of(logits.rows), threads_for(logits.columns), cross_entropy_row<T>,
           elements_of<const T>(logits), label, LogitRows{logits.columns, logits.leading(), dlogits.leading()}, share,
           scale, losses, elements_of<T>(dlogits));
  });
  launch(stream, 1, kThreads, mean_loss, losses, logits.rows, share, elements_of<float>(loss));
}

}  // namespace ddbench::device::cuda
