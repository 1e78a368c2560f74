#pragma once

#include <cstdint>

#include "harness/device/tensor.h"

namespace ddbench::device {

enum class Activation : std::uint8_t { kNone, kRelu };
enum class GradientWrite : std::uint8_t { kOverwrite, kAccumulate };
enum class Gelu : std::uint8_t { kErf, kTanh };
enum class AttentionMask : std::uint8_t { kNone, kCausal };

/// The label of a row that does not count (masked language models).
inline constexpr std::int32_t kIgnoredLabel = -1;

/// A square window that moves over images of `height` x `width` pixels.
struct Window {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;

  std::int64_t out_height() const noexcept { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t out_width() const noexcept { return (width + 2 * padding - kernel) / stride + 1; }
  std::int64_t in_rows() const noexcept { return batch * height * width; }
  std::int64_t out_rows() const noexcept { return batch * out_height() * out_width(); }
  friend auto operator<=>(const Window&, const Window&) = default;
};

/// What one batch normalization over C channels knows of its batch, each [1,C] float32: forward writes it,
/// backward reads it. There are no running averages: nothing is ever evaluated outside of training.
struct BatchStatistics {
  Tensor mean;
  Tensor inverse_deviation;  ///< 1 / sqrt(biased variance + epsilon)
};

struct AttentionShape {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::int64_t heads = 0;
  AttentionMask mask = AttentionMask::kNone;
  friend auto operator<=>(const AttentionShape&, const AttentionShape&) = default;
};

/// The operators that the layers of the reference workloads are made of.
///
/// B is the batch. Every tensor is a row-major matrix, dense unless an operator says otherwise; images are [B*H*W, channels] (NHWC), sequences
/// [B*T, channels]. Activations, their gradients and the weights of a call are of one type, float32,
/// bfloat16 or, on GPUs, float16 (sums are float32); biases, scales, shifts, statistics, losses and the
/// gradients of parameters are float32 always. No two tensors of a call overlap unless it says so. `write`
/// says whether a gradient overwrites or adds to what is there. Shapes are checked: a call that does not fit
/// throws Error{kBadInput} that names the operator and the shapes; so does an index or a label that is none,
/// but for devices with a queue, which make the result NaN. Operators allocate nothing once a shape has been
/// seen. Equal inputs on equal machines give equal bits, whatever was called before, with two exceptions: on a GPU the last
/// bits may depend on whether addresses are multiples of 16, and it chooses the algorithms of linear_*() and conv2d_*() by trial, so that
/// two devices can differ, unless DDBENCH_AUTOTUNE is 0.
class NetworkOperators {
 public:
  virtual ~NetworkOperators() = default;

  /// y[B,out] = activation(x[B,in] * weight[out,in]^T + bias[1,out]), weight as torch.nn.Linear keeps it;
  /// without bias where its data is null. Rows of y, and of dy below, may be padded (Tensor::stride): the padding is
  /// neither read nor, by these, written.
  virtual void linear_forward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                              Activation activation, const Tensor& y) = 0;
  /// dx[B,in] (+)= dy[B,out] * weight[out,in]
  virtual void linear_backward_input(const Tensor& dy, const Tensor& weight, GradientWrite write,
                                     const Tensor& dx) = 0;
  /// dweight[out,in] (+)= dy[B,out]^T * x[B,in] and dbias[1,out] (+)= column sums of dy, unless its data is
  /// null.
  virtual void linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write,
                                      const Tensor& dweight, const Tensor& dbias) = 0;

  /// Whether the next two operators are faster than those that they consist of.
  virtual bool fuses_gelu(Gelu /*form*/) const noexcept { return false; }
  /// before[B,out] = x * weight^T + bias and y[B,out] = GELU of it, before it is rounded to the type of `before` or after.
  virtual void linear_gelu_forward(const Tensor& x, const Tensor& weight, const Tensor& bias, Gelu form,
                                   const Tensor& before, const Tensor& y) {
    linear_forward(x, weight, bias, Activation::kNone, before);
    gelu_forward(form, before, y);
  }
  /// dbefore[B,in] = dy[B,out] * weight[out,in] * the derivative of GELU at before[B,in]
  virtual void linear_gelu_backward_input(const Tensor& dy, const Tensor& weight, Gelu form, const Tensor& before,
                                          const Tensor& dbefore) {
    linear_backward_input(dy, weight, GradientWrite::kOverwrite, dbefore);
    gelu_backward(form, before, dbefore, dbefore);
  }

  /// y[out rows, out] = cross-correlation of x[in rows, in] with weight[out, kernel*kernel*in], whose rows
  /// are kernel row, kernel column, channel (OHWI); padding is zeros. No bias.
  virtual void conv2d_forward(const Window& window, const Tensor& x, const Tensor& weight,
                              const Tensor& y) = 0;
  virtual void conv2d_backward_input(const Window& window, const Tensor& dy, const Tensor& weight,
                                     const Tensor& dx) = 0;
  virtual void conv2d_backward_weight(const Window& window, const Tensor& x, const Tensor& dy,
                                      GradientWrite write, const Tensor& dweight) = 0;

  /// Training mode (Ioffe, Szegedy 2015): y = activation((x - mean) * inverse_deviation * scale + shift +
  /// residual) over the rows of x[N,C], without residual where its data is null. Its ReLU lets NaN pass.
  virtual void batch_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift,
                                  const Tensor& residual, Activation activation, float epsilon,
                                  const BatchStatistics& statistics, const Tensor& y) = 0;
  /// `x`, `y` and `statistics` as in forward. dy becomes 0 where the activation cut it off: then it is the
  /// gradient of the residual.
  virtual void batch_norm_backward(const Tensor& x, const Tensor& y, const Tensor& scale,
                                   Activation activation, const BatchStatistics& statistics, const Tensor& dy,
                                   GradientWrite write, const Tensor& dscale, const Tensor& dshift,
                                   const Tensor& dx) = 0;

  /// Each row of x[N,C] on its own: y = (x - mean) / sqrt(variance + epsilon) * scale + shift.
  /// statistics[N,2] float32 keeps mean and inverse deviation for backward.
  virtual void layer_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, float epsilon,
                                  const Tensor& statistics, const Tensor& y) = 0;
  /// Whether the next operator is faster than the two that it consists of. The results are the same.
  virtual bool fuses_residual() const noexcept { return false; }
  /// sum += x and y = layer norm of the sum.
  virtual void add_layer_norm_forward(const Tensor& x, const Tensor& sum, const Tensor& scale, const Tensor& shift,
                                      float epsilon, const Tensor& statistics, const Tensor& y) {
    add(x, sum);
    layer_norm_forward(sum, scale, shift, epsilon, statistics, y);
  }
  /// dx is written or added to, according to dx_write.
  virtual void layer_norm_backward(const Tensor& x, const Tensor& scale, const Tensor& statistics,
                                   const Tensor& dy, GradientWrite write, const Tensor& dscale,
                                   const Tensor& dshift, GradientWrite dx_write, const Tensor& dx) = 0;

  /// y[out rows, C] = the largest of each window of x[in rows, C]; padding never is.
  virtual void max_pool_forward(const Window& window, const Tensor& x, const Tensor& y) = 0;
  /// Each dy goes to the first largest of its window, row by row.
  virtual void max_pool_backward(const Window& window, const Tensor& x, const Tensor& y, const Tensor& dy,
                                 const Tensor& dx) = 0;
  /// y[B,C] = mean of the x.rows / B rows of each sample of x.
  virtual void average_pool_forward(const Tensor& x, const Tensor& y) = 0;
  virtual void average_pool_backward(const Tensor& dy, const Tensor& dx) = 0;

  /// y += x, equal shapes and types.
  virtual void add(const Tensor& x, const Tensor& y) = 0;
  /// dy[B,n] becomes 0 where y[B,n], the output of a ReLU, is 0.
  virtual void relu_backward(const Tensor& y, const Tensor& dy) = 0;
  /// y = x * Phi(x) (Hendrycks, Gimpel 2016), Phi by erf, or approximated as GPT-2 does it:
  /// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).
  virtual void gelu_forward(Gelu form, const Tensor& x, const Tensor& y) = 0;
  virtual void gelu_backward(Gelu form, const Tensor& x, const Tensor& dy,
                             const Tensor& dx) = 0;  ///< dx may be dy

  /// y[N,C] (+)= rows indices[N,1] int32 of table[V,C].
  virtual void gather_rows(const Tensor& table, const Tensor& indices, GradientWrite write,
                           const Tensor& y) = 0;
  /// dtable[V,C] float32 (+)= each row of dy[N,C] at its index; in a fixed order of additions.
  virtual void scatter_add_rows(const Tensor& dy, const Tensor& indices, GradientWrite write,
                                const Tensor& dtable) = 0;

  /// Multi-head attention (Vaswani et al. 2017). qkv[B*T, 3C] holds queries, keys and values side by side,
  /// each of `heads` heads of C/heads numbers; y[B*T, C] = softmax(q k^T / sqrt(C/heads)) v, where with
  /// kCausal a query sees keys up to its own place. statistics[B*heads, T] float32 keeps log sum exp of each
  /// query for backward.
  virtual void attention_forward(const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
                                 const Tensor& y) = 0;
  /// `qkv`, `y` and `statistics` as in forward; the probabilities are computed again.
  virtual void attention_backward(const AttentionShape& shape, const Tensor& qkv, const Tensor& y,
                                  const Tensor& statistics, const Tensor& dy, const Tensor& dqkv) = 0;

  /// loss[1,1] = mean over the rows that count of -log softmax(logits[B,C])[label], 0 where none counts;
  /// dlogits[B,C] = `scale` times its gradient, and may be `logits`. labels[B,1] int32 are in [0,C) or
  /// kIgnoredLabel. Rows of logits and dlogits may be padded; what is in the padding of dlogits then is undefined.
  virtual void softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss,
                                     float scale, const Tensor& dlogits) = 0;
};

}  // namespace ddbench::device
