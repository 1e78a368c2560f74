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
  const Exponentials all = combine_block(own);
  const float scaled_share = *share * scale;
  const float factor = scaled_share / all.sum;
  for (std::int64_t i = threadIdx.x; i < classes; i += blockDim.x) {
    const float probability = factor * expf(load(in, i) - all.most);
    store(out, i, i == label ? probability - scaled_share : probability);
  }
  if (threadIdx.x == 0) losses[row] = logf(all.sum) + (all.most - of_label);
}

constexpr int kRowThreads = 1024;  // of which each can have 64 registers
/// Packs of a row that a thread keeps in 32 registers; the others are in the block's shared memory.
template <typename T>
constexpr int kRegisterPacks = static_cast<int>(32 * sizeof(float) / sizeof(Pack<T>));

/// f(its first element, place where it is kept) for each pack of this thread's part of a row.
template <typename T, typename F>
__device__ void for_kept_packs(std::int64_t classes, Pack<T> (&in_registers)[kRegisterPacks<T>], F f) {
  DDBENCH_UNROLL
  for (int k = 0; k < kRegisterPacks<T>; ++k) {
    const std::int64_t first = first_of_pack(k);
    if (first >= classes) return;
    f(first, in_registers[k]);
  }
  auto* const in_memory = static_cast<Pack<T>*>(dynamic_shared_memory()) + threadIdx.x;
  for (int k = 0; first_of_pack(kRegisterPacks<T> + k) < classes; ++k) {
    f(first_of_pack(kRegisterPacks<T> + k), in_memory[k * blockDim.x]);
  }
}

/// As cross_entropy_row(), but reads the logits once. Rows begin at packs; the one that the last class is in is written
/// as a whole.
template <typename T>
__global__ void __launch_bounds__(kRowThreads)
    cross_entropy_kept_row(const T* logits, const std::int32_t* labels, LogitRows rows, const float* share, float scale,
                           float* losses, T* dlogits) {
  const std::int64_t row = blockIdx.x;
  const T* const in = logits + row * rows.leading;
  T* const out = dlogits + row * rows.dleading;
  const std::int32_t label = labels[row];
  const bool valid = label >= 0 && label < rows.classes;
  const float of_label = valid ? load(in, label) : 0.0F;  // before any of `out` is written
  Pack<T> kept[kRegisterPacks<T>];
  Exponentials own;
  for_kept_packs(rows.classes, kept, [&](std::int64_t first, Pack<T>& pack) {
    copy_pack(in + first, pack.values);
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) {
      if (first + i < rows.classes) own.add(load(pack.values, i));
    }
  });
  const Exponentials all = combine_block(own);
  const float scaled_share = valid ? *share * scale : 0.0F;
  const float factor = valid ? scaled_share / all.sum : 0.0F;
  for_kept_packs(rows.classes, kept, [&](std::int64_t first, const Pack<T>& pack) {
    float slopes[kPack];
    DDBENCH_UNROLL
    for (int i = 0; i < kPack; ++i) {
      const bool counts = valid && first + i < rows.classes;
      slopes[i] = counts ? factor * expf(load(pack.values, i) - all.most) : 0.0F;
      if (first + i == label) slopes[i] -= scaled_share;
    }
    store_pack(out, first, slopes);
  });
  if (threadIdx.x != 0) return;
  const float ignored = label == kIgnoredLabel ? 0.0F : NAN;
  losses[row] = valid ? logf(all.sum) + (all.most - of_label) : ignored;
}

/// Whether the kernel above can, and does it: a block has 128 KiB of registers for a row, and the shared memory of this GPU.
template <typename T>
bool keep_rows(cudaStream_t stream, const Tensor& logits, const std::int32_t* labels, const float* share, float scale,
               float* losses, const Tensor& dlogits) {
  const T* const in = elements_of<const T>(logits);
  T* const out = elements_of<T>(dlogits);
  const LogitRows rows{logits.columns, logits.leading(), dlogits.leading()};
  const std::int64_t packs = (rows.classes + kPack - 1) / kPack;
  const std::int64_t warps = (packs + 31) / 32;
  const int threads = static_cast<int>(warps * 32 < kRowThreads ? warps * 32 : kRowThreads);
  const std::int64_t others = packs - std::int64_t{kRegisterPacks<T>} * threads;
  const std::int64_t bytes = others > 0 ? others * std::int64_t{sizeof(Pack<T>)} : 0;
  const bool begins_packs = are_packs(in, out) && rows.leading % kPack == 0 && rows.dleading % kPack == 0;
  if (!begins_packs || bytes > most_block_memory()) return false;
  launch_with_memory(stream, blocks_of(logits.rows), threads, bytes, cross_entropy_kept_row<T>, in, labels, rows, share,
                     scale, losses, out);
  return true;
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
