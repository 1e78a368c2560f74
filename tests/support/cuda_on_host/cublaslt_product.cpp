#include "cublaslt_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <vector>

#include "products.h"

namespace ddbench::cuda_on_host {
namespace {

constexpr std::uint32_t kMark = 0x686f7374;

// GELU in the form of tanh, and its derivative.
float inner(float x) {
  return std::tanh(0.7978845608028654F * (x + 0.044715F * x * x * x));
}
float gelu(float x) {
  return 0.5F * x * (1.0F + inner(x));
}
float gelu_slope(float x) {
  const float t = inner(x);
  return 0.5F * (1.0F + t) + 0.5F * x * (1.0F - t * t) * 0.7978845608028654F * (1.0F + 3.0F * 0.044715F * x * x);
}

bool fits(const MatrixProduct& p) {
  const MatrixLayout &a = p.a, &b = p.b, &c = p.c, &d = p.d;
  return (p.transposes_a() ? a.columns : a.rows) == d.rows &&
         (p.transposes_b() ? b.columns : b.rows) == p.sum_length() &&
         (p.transposes_b() ? b.rows : b.columns) == d.columns && c.rows == d.rows && c.columns == d.columns &&
         (d.batch == 1 || d.stride >= d.extent());
}

bool is_supported(const MatrixProduct& p) {
  const ProductOperation& o = p.operation;
  const bool computes =
      o.scale_type == CUDA_R_32F && (o.compute == CUBLAS_COMPUTE_32F ||
                                     (o.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && p.a.type == CUDA_R_32F));
  const bool types =
      p.a.type == p.b.type && p.c.type == p.d.type && (p.d.type == p.a.type || p.d.type == CUDA_R_32F);
  const bool bias = !o.has_vector() || o.bias_type == -1 || o.bias_type == p.d.type;
  const bool aux = !o.has_aux() || (o.aux_leading % 8 == 0 && o.aux_leading >= p.d.rows && alignment_of(o.aux) >= 16);
  // The library may have no algorithm for an epilogue; here there is none where columns of 16 bits are not
  // aligned to 4 bytes, so that what callers do without is run as well.
  const bool is_odd = p.d.type != CUDA_R_32F && (p.d.leading % 2 != 0 || p.d.rows % 2 != 0);
  const bool is_known = o.epilogue == CUBLASLT_EPILOGUE_RELU || o.epilogue == CUBLASLT_EPILOGUE_BIAS ||
                        o.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  const bool is_single = p.d.batch == 1 && p.d.columns % 2 == 0;  // of what else there is, likewise
  const bool epilogue = o.epilogue == CUBLASLT_EPILOGUE_DEFAULT || (!is_odd && is_known) ||
                        (!is_odd && is_single && (o.has_aux() || o.sums_b()));
  return computes && types && bias && aux && epilogue;
}

std::vector<float> values(const MatrixLayout& layout, const void* numbers, std::int64_t i) {
  std::vector<float> values(layout.extent());
  const Format format = layout.format();
  widen(format, static_cast<const std::byte*>(numbers) + i * layout.stride * size_of(format), layout.extent(),
        values.data());
  return values;
}

/// The transpose of op(x).
MatrixView transposed_view(const MatrixLayout& layout, const std::vector<float>& numbers, bool transposes) {
  if (transposes) return {numbers.data(), 1, layout.leading};
  return {numbers.data(), layout.leading, 1};
}

}  // namespace

Format MatrixLayout::format() const {
  if (type == CUDA_R_16F) return Format::kFloat16;
  return type == CUDA_R_16BF ? Format::kBfloat16 : Format::kFloat32;
}

bool MatrixLayout::is_valid() const {
  return (type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF) && rows > 0 && columns > 0 &&
         leading >= rows && batch > 0 && stride >= 0;
}

cublasStatus_t MatrixProduct::refusal() const {
  for (const MatrixLayout* layout : {&a, &b, &c, &d}) {
    if (!layout->is_valid() || layout->batch != d.batch) return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!fits(*this)) return CUBLAS_STATUS_INVALID_VALUE;
  return is_supported(*this) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address) | 256;
  return static_cast<std::uint32_t>(bits & -bits);
}

Choice Choice::of(const MatrixProduct& p, const Alignments& alignments) {
  return {static_cast<std::int32_t>(p.d.rows),
          static_cast<std::int32_t>(p.d.columns),
          static_cast<std::int32_t>(p.sum_length()),
          p.d.batch,
          2 * p.operation.transpose_a + p.operation.transpose_b,
          p.a.type,
          p.d.type,
          static_cast<std::int32_t>(p.operation.epilogue),
          alignments,
          p.operation.has_vector() ? alignment_of(p.operation.bias) : 0,
          p.operation.has_aux() ? alignment_of(p.operation.aux) : 0,
          0,
          kMark};
}

bool Choice::serves(const Choice& that) const {
  Choice same = that;
  same.alignments = alignments;
  same.bias_alignment = bias_alignment;
  same.aux_alignment = aux_alignment;
  same.number = number;
  return std::memcmp(this, &same, sizeof same) == 0 && bias_alignment <= that.bias_alignment &&
         aux_alignment <= that.aux_alignment &&
         std::equal(alignments.begin(), alignments.end(), that.alignments.begin(), std::less_equal<>());
}

void QueuedProduct::run() const {
  const MatrixProduct& p = product;
  std::vector<float> bias(p.d.rows);
  if (p.operation.adds_bias()) widen(p.d.format(), p.operation.bias, p.d.rows, bias.data());
  if (p.operation.sums_b()) sum_columns_of_b();
  std::vector<float> products(p.d.rows * p.d.columns);
  for (std::int64_t i = 0; i < p.d.batch; ++i) {
    const std::vector<float> left = values(p.a, a, i);
    const std::vector<float> right = values(p.b, b, i);
    // The transpose of d, row by row, is d column by column.
    multiply(p.d.columns, p.d.rows, p.sum_length(), transposed_view(p.b, right, p.transposes_b()),
             transposed_view(p.a, left, p.transposes_a()), products.data());
    with_number_of(p.d.format(),
                   [&](auto number) { finish<decltype(number)>(i, products.data(), bias.data()); });
  }
}

/// Over the length of the sums of the product, in its order.
void QueuedProduct::sum_columns_of_b() const {
  const MatrixProduct& p = product;
  const std::vector<float> right = values(p.b, b, 0);
  const MatrixView view = transposed_view(p.b, right, p.transposes_b());
  with_number_of(p.d.format(), [&](auto number) {
    auto* const sums = static_cast<decltype(number)*>(const_cast<void*>(p.operation.bias));
    for (std::int64_t column = 0; column < p.d.columns; ++column) {
      float sum = 0;
      for (std::int64_t i = 0; i < p.sum_length(); ++i) sum += view.data[column * view.row_stride + i * view.column_stride];
      narrow(sum, sums[column]);
    }
  });
}

template <typename Number>
void QueuedProduct::finish(std::int64_t i, const float* products, const float* bias) const {
  const MatrixProduct& p = product;
  auto* const to = static_cast<Number*>(d) + i * p.d.stride;
  const auto* const added = beta == 0.0F ? nullptr : static_cast<const Number*>(c) + i * p.c.stride;
  for (std::int64_t column = 0; column < p.d.columns; ++column) {
    for (std::int64_t row = 0; row < p.d.rows; ++row) {
      float value = alpha * *products++;
      if (added != nullptr) value += beta * widened(added[column * p.c.leading + row]);
      value += bias[row];
      const auto aux = [&]() -> Number& {
        return static_cast<Number*>(p.operation.aux)[column * p.operation.aux_leading + row];
      };
      if (p.operation.takes_gelu()) {
        narrow(value, aux());
        value = gelu(value);
      }
      if (p.operation.multiplies_slope()) value *= gelu_slope(widened(aux()));
      narrow(p.operation.cuts() && value < 0.0F ? 0.0F : value, to[column * p.d.leading + row]);
    }
  }
}

}  // namespace ddbench::cuda_on_host
