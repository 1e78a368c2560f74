#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdint>

#include "harness/device/device.h"

/// The kernels that neither cuBLASLt nor cuDNN provides. Every function queues work on `stream` and returns;
/// the caller has checked the arguments. Sums are taken in a fixed order: equal inputs give equal bits. `T`
/// below is the type of the activations, float, bfloat16 or float16 according to the tensors; everything else
/// is float.
namespace ddbench::device::cuda {

// elementwise.cu
void fill(cudaStream_t stream, const Tensor& destination, float value);
void scale(cudaStream_t stream, const Tensor& values, float factor);
void add(cudaStream_t stream, const Tensor& x, const Tensor& y);
/// y = activation(y + bias of its column), without bias where its data is null. Rows of y may be padded.
void add_bias(cudaStream_t stream, const Tensor& bias, Activation activation, const Tensor& y);
void relu_backward(cudaStream_t stream, const Tensor& y, const Tensor& dy);
void gelu_forward(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& y);
void gelu_backward(cudaStream_t stream, Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx);
/// destination = factor * source + (0 or destination), of any two types of numbers.
void convert(cudaStream_t stream, const Tensor& source, float factor, GradientWrite write,
             const Tensor& destination);
void add_scaled(cudaStream_t stream, const Tensor& source, float factor, const Tensor& destination);

// optimizers.cu
void sgd(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
         const SgdSettings& settings);
void adamw(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& m,
           const Tensor& v, const AdamSettings& settings, float lr);
/// The numbers of an adamw() step.
struct AdamStep {
  AdamSettings settings;
  float keep;
  float step;
  float root;

  AdamStep(const AdamSettings& of, float lr)
      : settings(of), keep(1.0F - lr * of.weight_decay), step(lr / of.correction1), root(1.0F / std::sqrt(of.correction2)) {}
};
/// adamw() of pieces of vectors, in one launch. The table of pieces is in the GPU's memory; each has at most
/// kAdamPiece elements. Its numbers are those of `step`, or what *later, in the GPU's memory, holds when the kernel runs,
/// unless that is null.
struct AdamPiece {
  float* parameter = nullptr;
  const float* gradient = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  std::int64_t elements = 0;
  friend bool operator==(const AdamPiece&, const AdamPiece&) = default;
};
inline constexpr std::int64_t kAdamPiece = 1 << 15;
void adamw_each(cudaStream_t stream, const AdamPiece* pieces, std::int64_t count, const AdamStep& step, const AdamStep* later);
void lamb_direction(cudaStream_t stream, const Tensor& parameter, const Tensor& gradient, const Tensor& m,
                    const Tensor& v, const AdamSettings& settings);

/// Adds to *sum; `partials` has room for kSquareBlocks.
inline constexpr int kSquareBlocks = 256;
void add_squares(cudaStream_t stream, const Tensor& values, double* partials, double* sum);

// columns.cu: sums over the rows of a matrix, in two stages
/// Floats that the functions below need as scratch for matrices of this shape.
std::int64_t column_scratch(std::int64_t rows, std::int64_t columns);
/// Rows of x may be padded.
void column_sums(cudaStream_t stream, const Tensor& x, GradientWrite write, const Tensor& sums,
                 float* scratch);
void batch_norm_forward(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& shift,
                        const Tensor& residual, Activation activation, float epsilon,
                        const BatchStatistics& statistics, const Tensor& y, float* scratch);
void batch_norm_backward(cudaStream_t stream, const Tensor& x, const Tensor& y, const Tensor& scale,
                         Activation activation, const BatchStatistics& statistics, const Tensor& dy,
                         GradientWrite write, const Tensor& dscale, const Tensor& dshift, const Tensor& dx,
                         float* scratch);
/// For layer normalization of more columns than layer_norm_backward() takes.
void layer_norm_parameters(cudaStream_t stream, const Tensor& x, const Tensor& statistics, const Tensor& dy,
                           GradientWrite write, const Tensor& dscale, const Tensor& dshift, float* scratch);

// layer_norm.cu
/// Adds `added` to x first, where it has memory: in the same pass for rows of whole packs.
void layer_norm_forward(cudaStream_t stream, const Tensor& added, const Tensor& x, const Tensor& scale,
                        const Tensor& shift, float epsilon, const Tensor& statistics, const Tensor& y);
/// dx, dscale and dshift in one pass over x and dy; false, and nothing was done, for more columns than a block
/// can hold. `partials` has room for layer_norm_scratch() floats.
std::int64_t layer_norm_scratch(std::int64_t rows, std::int64_t columns);
bool layer_norm_backward(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& statistics,
                         const Tensor& dy, GradientWrite write, const Tensor& dscale, const Tensor& dshift,
                         GradientWrite dx_write, const Tensor& dx, float* partials);
void layer_norm_input(cudaStream_t stream, const Tensor& x, const Tensor& scale, const Tensor& statistics,
                      const Tensor& dy, GradientWrite write, const Tensor& dx);

// cross_entropy.cu
/// `losses` has room for rows + 1 floats. A label that is none makes the loss NaN. Rows may be padded. Those that begin
/// at multiples of 8 elements are read once: a block of threads keeps one, of up to 90,624 classes in float32 on an H100.
void softmax_cross_entropy(cudaStream_t stream, const Tensor& logits, const Tensor& labels,
                           const Tensor& loss, float scale, const Tensor& dlogits, float* losses);

// rows.cu: a block a row
/// An index outside of the table makes the row NaN.
void gather_rows(cudaStream_t stream, const Tensor& table, const Tensor& indices, GradientWrite write,
                 const Tensor& y);
void scatter_add_rows(cudaStream_t stream, const Tensor& dy, const Tensor& indices, GradientWrite write,
                      const Tensor& dtable);

/// For the scores[matrices * queries, keys] of an attention: computes probabilities, of type T and in place
/// if that is float, and their log sum exp. With `causal` query i sees keys 0 to i.
void attention_softmax(cudaStream_t stream, const Tensor& scores, std::int64_t queries, float scale,
                       bool causal, const Tensor& probabilities, float* statistics);
/// Probabilities of the scores again, and the gradient of the scores: p * (dp - sum(dy * y)) * scale.
/// `sums` has sum(dy * y) of each query.
void attention_softmax_backward(cudaStream_t stream, const Tensor& scores, const float* statistics,
                                const float* sums, std::int64_t queries, float scale, bool causal,
                                const Tensor& dprobabilities, const Tensor& probabilities,
                                const Tensor& dscores);

// layout.cu
/// `parts` matrices side by side in rows[batch * sequence, parts * heads * width], one after another as
/// heads[part][batch][head][sequence][width], and back.
struct HeadLayout {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t parts = 1;
  std::int64_t elements() const noexcept { return batch * sequence * heads * width * parts; }
};
void split_heads(cudaStream_t stream, const HeadLayout& layout, DataType type, const void* rows, void* heads);
void join_heads(cudaStream_t stream, const HeadLayout& layout, DataType type, const void* heads, void* rows);
/// sums[i] = sum over a row of x * y
void row_products(cudaStream_t stream, const Tensor& x, const Tensor& y, float* sums);

void max_pool_forward(cudaStream_t stream, const Window& window, const Tensor& x, const Tensor& y);
void max_pool_backward(cudaStream_t stream, const Window& window, const Tensor& x, const Tensor& y,
                       const Tensor& dy, const Tensor& dx);
void average_pool_forward(cudaStream_t stream, const Tensor& x, const Tensor& y);
void average_pool_backward(cudaStream_t stream, const Tensor& dy, const Tensor& dx);

}  // namespace ddbench::device::cuda
