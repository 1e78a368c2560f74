#pragma once

#include <fmt/format.h>

#include <dnnl.hpp>

#include "core/error.h"
#include "harness/device/tensor.h"

/// What the files that call oneDNN share. Heavy: never included by a header.
namespace ddbench::device::cpu {

struct OneDnn {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

[[noreturn]] inline void throw_onednn(const char* what, dnnl_status_t status, const char* why) {
  if (status == dnnl_unimplemented) {  // of the operations used here, only bfloat16 requires a certain CPU
    throw Error(
        ErrorCode::kEnvironment,
        fmt::format("oneDNN cannot {} in bfloat16 on this CPU, which lacks AVX512: use --precision fp32",
                    what),
        static_cast<int>(status), what);
  }
  throw Error(ErrorCode::kRunFailed, fmt::format("oneDNN could not {}: {}", what, why),
              static_cast<int>(status), what);
}

inline dnnl::memory::data_type onednn_type(DataType type) {
  return type == DataType::kBfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

}  // namespace ddbench::device::cpu
