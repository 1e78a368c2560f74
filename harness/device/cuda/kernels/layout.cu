// Where numbers lie, and windows over images.
#include <cmath>

#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/cuda/kernels/number.cuh"
#include "harness/device/cuda/kernels/packs.cuh"

namespace ddbench::device::cuda {
namespace {

/// The place in rows of element i of heads. `Number`: of 32 bits where all places fit, as their divisions take a
/// quarter of the time.
template <typename Number>
__device__ std::int64_t place_in_rows(const HeadLayout& l, std::int64_t i) {
  const auto width = static_cast<Number>(l.width);
  const auto sequence = static_cast<Number>(l.sequence);
  const auto heads = static_cast<Number>(l.heads);
  auto rest = static_cast<Number>(i);
  const Number column = rest % width;
  rest /= width;
  const Number time = rest % sequence;
  rest /= sequence;
  const Number head = rest % heads;
  rest /= heads;
  const Number sample = rest % static_cast<Number>(l.batch);
  const Number part = rest / static_cast<Number>(l.batch);
  const Number row = sample * sequence + time;
  return static_cast<std::int64_t>((row * static_cast<Number>(l.parts) + part) * heads * width + head * width + column);
}

/// Calls move(place in heads, place in rows) for every element.
template <typename Move>
void for_heads(cudaStream_t stream, const HeadLayout& l, Move move) {
  if (l.elements() < (std::int64_t{1} << 32)) {
    each(stream, l.elements(), [=] __device__(std::int64_t i) { move(i, place_in_rows<std::uint32_t>(l, i)); });
  } else {
    each(stream, l.elements(), [=] __device__(std::int64_t i) { move(i, place_in_rows<std::uint64_t>(l, i)); });
  }
}

template <typename Word>
void split(cudaStream_t stream, const HeadLayout& layout, const void* rows, void* heads) {
  const Word* const from = static_cast<const Word*>(rows);
  Word* const to = static_cast<Word*>(heads);
  for_heads(stream, layout,
            [=] __device__(std::int64_t in_heads, std::int64_t in_rows) { to[in_heads] = from[in_rows]; });
}

template <typename Word>
void join(cudaStream_t stream, const HeadLayout& layout, const void* heads, void* rows) {
  const Word* const from = static_cast<const Word*>(heads);
  Word* const to = static_cast<Word*>(rows);
  for_heads(stream, layout,
            [=] __device__(std::int64_t in_heads, std::int64_t in_rows) { to[in_rows] = from[in_heads]; });
}

/// Threads that share a row: those of heads have a few packs.
constexpr int kRowLanes = 8;

template <typename T, int kWidth>
__global__ void row_product(const T* x, const T* y, std::int64_t rows, std::int64_t columns, float* sums) {
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / kRowLanes;
  const int lane = static_cast<int>(threadIdx.x) % kRowLanes;
  float sum = 0;
  if (row < rows) {
    for (std::int64_t first = lane * kWidth; first < columns; first += kRowLanes * kWidth) {
      float left[kWidth];
      float right[kWidth];
      load_pack(x, row * columns + first, left);
      load_pack(y, row * columns + first, right);
      DDBENCH_UNROLL
      for (int i = 0; i < kWidth; ++i) sum += left[i] * right[i];
    }
  }
  for (int offset = kRowLanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xFFFF'FFFFU, sum, offset);
  if (lane == 0 && row < rows) sums[row] = sum;
}

/// The input pixels of an output's window, and the outputs whose windows see an input pixel.
struct WindowPlaces {
  std::int64_t height, width, out_height, out_width, kernel, stride, padding;

  __host__ explicit WindowPlaces(const Window& w)
      : height(w.height),
        width(w.width),
        out_height(w.out_height()),
        out_width(w.out_width()),
        kernel(w.kernel),
        stride(w.stride),
        padding(w.padding) {}

  __device__ static std::int64_t later(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
  __device__ static std::int64_t earlier(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  __device__ std::int64_t first_in(std::int64_t out) const { return later(out * stride - padding, 0); }
  __device__ std::int64_t end_in(std::int64_t out, std::int64_t size) const {
    return earlier(out * stride - padding + kernel, size);
  }
  __device__ std::int64_t first_out(std::int64_t in) const {
    const std::int64_t from = in + padding - kernel + 1;
    return from <= 0 ? 0 : (from + stride - 1) / stride;
  }
  __device__ std::int64_t end_out(std::int64_t in, std::int64_t size) const {
    return earlier((in + padding) / stride + 1, size);
  }
};

/// A channel of a pixel.
struct PixelPlace {
  std::int64_t channel, column, row, image;
};

template <typename Number>
__device__ PixelPlace split_place(Number i, Number channels, Number width, Number height) {
  const Number pixel = i / channels;
  const Number line = pixel / width;
  return {static_cast<std::int64_t>(i - pixel * channels), static_cast<std::int64_t>(pixel - line * width),
          static_cast<std::int64_t>(line % height), static_cast<std::int64_t>(line / height)};
}

__device__ inline PixelPlace place_of(std::int64_t i, std::int64_t channels, std::int64_t width, std::int64_t height) {
  if ((i >> 32) != 0) return split_place<std::int64_t>(i, channels, width, height);
  return split_place<std::uint32_t>(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(channels),
                                    static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height));
}

template <typename T, int kWidth>
void largest(cudaStream_t stream, const Window& window, const Tensor& x, const Tensor& y) {
  const T* const in = elements_of<const T>(x);
  T* const out = elements_of<T>(y);
  const std::int64_t channels = x.columns;
  const WindowPlaces w(window);
  each(stream, y.elements() / kWidth, [=] __device__(std::int64_t pack) {
    const auto [packs, column, row, image] = place_of(pack, channels / kWidth, w.out_width, w.out_height);
    float best[kWidth], values[kWidth];
    for (int i = 0; i < kWidth; ++i) best[i] = -INFINITY;
    for (std::int64_t r = w.first_in(row); r < w.end_in(row, w.height); ++r) {
      for (std::int64_t c = w.first_in(column); c < w.end_in(column, w.width); ++c) {
        load_pack(in, ((image * w.height + r) * w.width + c) * channels + packs * kWidth, values);
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) best[i] = fmaxf(best[i], values[i]);
      }
    }
    store_pack(out, pack * kWidth, best);
  });
}

/// Of the channels `is_it` of pixel (row, column), those are left that no earlier pixel of the window of output (out_row,
/// out_column) equals. `image` begins at the pack of channels.
template <typename T, int kWidth>
__device__ void keep_firsts(const WindowPlaces& w, const T* image, std::int64_t channels, std::int64_t out_row,
                            std::int64_t out_column, std::int64_t row, std::int64_t column, const float (&value)[kWidth],
                            bool (&is_it)[kWidth]) {
  for (std::int64_t r = w.first_in(out_row); r <= row; ++r) {
    for (std::int64_t c = w.first_in(out_column); c < w.end_in(out_column, w.width); ++c) {
      if (r == row && c == column) return;
      float earlier[kWidth];
      load_pack(image, (r * w.width + c) * channels, earlier);
      DDBENCH_UNROLL
      for (int i = 0; i < kWidth; ++i) is_it[i] = is_it[i] && earlier[i] != value[i];
    }
  }
}

template <typename T, int kWidth>
void largest_gradient(cudaStream_t stream, const Window& window, const Tensor& x, const Tensor& y,
                      const Tensor& dy, const Tensor& dx) {
  const T* const in = elements_of<const T>(x);
  const T* const largest_of = elements_of<const T>(y);
  const T* const gradient = elements_of<const T>(dy);
  T* const out = elements_of<T>(dx);
  const std::int64_t channels = x.columns;
  const WindowPlaces w(window);
  each(stream, x.elements() / kWidth, [=] __device__(std::int64_t pack) {
    const auto [packs, column, row, image] = place_of(pack, channels / kWidth, w.width, w.height);
    const std::int64_t channel = packs * kWidth;
    float value[kWidth], other[kWidth], sum[kWidth] = {};
    load_pack(in, pack * kWidth, value);
    for (std::int64_t r = w.first_out(row); r < w.end_out(row, w.out_height); ++r) {
      for (std::int64_t c = w.first_out(column); c < w.end_out(column, w.out_width); ++c) {
        const std::int64_t at = ((image * w.out_height + r) * w.out_width + c) * channels + channel;
        load_pack(largest_of, at, other);
        bool is_it[kWidth];
        bool is_any = false;
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) {
          is_it[i] = other[i] == value[i];
          is_any |= is_it[i];
        }
        if (!is_any) continue;
        keep_firsts(w, in + image * w.height * w.width * channels + channel, channels, r, c, row, column, value, is_it);
        load_pack(gradient, at, other);
        DDBENCH_UNROLL
        for (int i = 0; i < kWidth; ++i) sum[i] += is_it[i] ? other[i] : 0.0F;
      }
    }
    store_pack(out, pack * kWidth, sum);
  });
}

template <typename T>
void mean_rows(cudaStream_t stream, const Tensor& x, const Tensor& y) {
  const T* const in = elements_of<const T>(x);
  T* const out = elements_of<T>(y);
  const std::int64_t channels = y.columns;
  const std::int64_t rows = x.rows / y.rows;
  each(stream, y.elements(), [=] __device__(std::int64_t i) {
    const PixelPlace place = place_of(i, channels, 1, 1);
    const T* const sample = in + place.image * rows * channels + place.channel;
    float sum = 0;
    for (std::int64_t row = 0; row < rows; ++row) sum += load(sample, row * channels);
    store(out, i, sum / static_cast<float>(rows));
  });
}

template <typename T>
void spread_rows(cudaStream_t stream, const Tensor& dy, const Tensor& dx) {
  const T* const gradient = elements_of<const T>(dy);
  T* const out = elements_of<T>(dx);
  const std::int64_t channels = dy.columns;
  const std::int64_t rows = dx.rows / dy.rows;
  each(stream, dx.elements(), [=] __device__(std::int64_t i) {
    const PixelPlace place = place_of(i, channels, rows, 1);
    store(out, i, load(gradient, place.image * channels + place.channel) / static_cast<float>(rows));
  });
}

}  // namespace

void split_heads(cudaStream_t stream, const HeadLayout& layout, DataType type, const void* rows,
                 void* heads) {
  size_of(type) == 2 ? split<std::uint16_t>(stream, layout, rows, heads)
                     : split<std::uint32_t>(stream, layout, rows, heads);
}

void join_heads(cudaStream_t stream, const HeadLayout& layout, DataType type, const void* heads, void* rows) {
  size_of(type) == 2 ? join<std::uint16_t>(stream, layout, heads, rows)
                     : join<std::uint32_t>(stream, layout, heads, rows);
}

void row_products(cudaStream_t stream, const Tensor& x, const Tensor& y, float* sums) {
  with_type(x.type, [&](auto type) {
    using T = decltype(type);
    const T* const left = elements_of<const T>(x);
    const T* const right = elements_of<const T>(y);
    with_width(are_rows_of_packs(x.columns, left, right), [&](auto width) {
      launch(stream, blocks_of((x.rows * kRowLanes + kThreads - 1) / kThreads), kThreads,
             row_product<T, width()>, left, right, x.rows, x.columns, sums);
    });
  });
}

void max_pool_forward(cudaStream_t stream, const Window& window, const Tensor& x, const Tensor& y) {
  with_type(x.type, [&](auto type) {
    with_width(are_rows_of_packs(x.columns, x.data, y.data),
               [&](auto width) { largest<decltype(type), decltype(width)::value>(stream, window, x, y); });
  });
}

void max_pool_backward(cudaStream_t stream, const Window& window, const Tensor& x, const Tensor& y,
                       const Tensor& dy, const Tensor& dx) {
  with_type(x.type, [&](auto type) {
    with_width(are_rows_of_packs(x.columns, x.data, y.data, dy.data, dx.data), [&](auto width) {
      largest_gradient<decltype(type), decltype(width)::value>(stream, window, x, y, dy, dx);
    });
  });
}

void average_pool_forward(cudaStream_t stream, const Tensor& x, const Tensor& y) {
  with_type(x.type, [&](auto type) { mean_rows<decltype(type)>(stream, x, y); });
}

void average_pool_backward(cudaStream_t stream, const Tensor& dy, const Tensor& dx) {
  with_type(dx.type, [&](auto type) { spread_rows<decltype(type)>(stream, dy, dx); });
}

}  // namespace ddbench::device::cuda
