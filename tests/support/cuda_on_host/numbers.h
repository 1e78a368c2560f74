#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace ddbench::cuda_on_host {

/// How numbers lie in memory. All are computed with as float32.
enum class Format : std::uint8_t { kFloat32, kFloat16, kBfloat16, kInt32, kBoolean };

inline float widened(float number) {
  return number;
}
inline float widened(__half number) {
  return __half2float(number);
}
inline float widened(__nv_bfloat16 number) {
  return __bfloat162float(number);
}
inline float widened(std::int32_t number) {
  return static_cast<float>(number);
}
inline float widened(bool number) {
  return number ? 1.0F : 0.0F;
}

inline void narrow(float value, float& number) {
  number = value;
}
inline void narrow(float value, __half& number) {
  number = __float2half_rn(value);
}
inline void narrow(float value, __nv_bfloat16& number) {
  number = __float2bfloat16_rn(value);
}
inline void narrow(float value, std::int32_t& number) {
  number = static_cast<std::int32_t>(value);
}
inline void narrow(float value, bool& number) {
  number = value != 0.0F;
}

/// What f returns for a number of the format.
template <typename Function>
auto with_number_of(Format format, Function f) {
  switch (format) {
    case Format::kFloat16: return f(__half{});
    case Format::kBfloat16: return f(__nv_bfloat16{});
    case Format::kInt32: return f(std::int32_t{});
    case Format::kBoolean: return f(bool{});
    default: return f(float{});
  }
}

inline std::int64_t size_of(Format format) {
  return with_number_of(format, [](auto number) { return std::int64_t{sizeof number}; });
}

/// `count` numbers as float32.
inline void widen(Format format, const void* numbers, std::int64_t count, float* values) {
  with_number_of(format, [&](auto number) {
    const auto* const from = static_cast<const decltype(number)*>(numbers);
    for (std::int64_t i = 0; i < count; ++i) values[i] = widened(from[i]);
  });
}

}  // namespace ddbench::cuda_on_host
