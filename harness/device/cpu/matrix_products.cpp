#include "harness/device/cpu/matrix_products.h"

#include <unordered_map>

#include "harness/device/cpu/onednn.h"

namespace ddbench::device::cpu {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

dnnl::primitive_attr fused(const ProductShape& shape) {
  dnnl::post_ops post;
  if (shape.accumulate) post.append_sum(1.0F);
  if (shape.activation == Activation::kRelu) {
#if DNNL_VERSION_MAJOR >= 3
    post.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#else
    post.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#endif
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post);
  return attributes;
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const ProductShape& shape, const Desc& a,
                                      const Desc& b, const Desc& bias, const Desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  if (shape.bias) return {engine, a, b, bias, c, fused(shape)};
  return {engine, a, b, c, fused(shape)};
#else
  if (shape.bias) return {dnnl::matmul::desc(a, b, bias, c), fused(shape), engine};
  return {dnnl::matmul::desc(a, b, c), fused(shape), engine};
#endif
}

/// `stride` 0: dense.
Desc matrix(std::int64_t rows, std::int64_t columns, bool transposed, DataType type, std::int64_t stride = 0) {
  const std::int64_t leading = stride != 0 ? stride : transposed ? rows : columns;
  return {{rows, columns}, onednn_type(type), transposed ? Dims{1, leading} : Dims{leading, 1}};
}

}  // namespace

struct MatrixProducts::Primitive {
  dnnl::matmul matmul;
  dnnl::memory a, b, bias, c;
  std::unordered_map<int, dnnl::memory> arguments;
};

MatrixProducts::MatrixProducts() try : onednn_(std::make_unique<OneDnn>()) {
} catch (const dnnl::error& error) {
  throw_onednn("start its CPU engine", error.status, error.what());
}

MatrixProducts::~MatrixProducts() = default;

MatrixProducts::Primitive& MatrixProducts::primitive(const ProductShape& shape) {
  const auto found = primitives_.find(shape);
  if (found != primitives_.end()) return *found->second;

  const Desc a = matrix(shape.m, shape.k, shape.transpose_a, shape.in, shape.a_stride);
  const Desc b = matrix(shape.k, shape.n, shape.transpose_b, shape.in);
  const Desc bias = matrix(1, shape.n, false, DataType::kFloat32);
  const Desc c = matrix(shape.m, shape.n, false, shape.out, shape.c_stride);
  const dnnl::engine& engine = onednn_->engine;

  auto made = std::make_unique<Primitive>();
  made->matmul = dnnl::matmul(describe(engine, shape, a, b, bias, c));
  made->a = dnnl::memory(a, engine, nullptr);
  made->b = dnnl::memory(b, engine, nullptr);
  made->c = dnnl::memory(c, engine, nullptr);
  made->arguments = {{DNNL_ARG_SRC, made->a}, {DNNL_ARG_WEIGHTS, made->b}, {DNNL_ARG_DST, made->c}};
  if (shape.bias) {
    made->bias = dnnl::memory(bias, engine, nullptr);
    made->arguments.emplace(DNNL_ARG_BIAS, made->bias);
  }
  return *primitives_.emplace(shape, std::move(made)).first->second;
}

void MatrixProducts::run(const ProductShape& shape, const void* a, const void* b, const void* bias,
                         void* c) try {
  Primitive& product = primitive(shape);
  product.a.set_data_handle(const_cast<void*>(a));
  product.b.set_data_handle(const_cast<void*>(b));
  if (shape.bias) product.bias.set_data_handle(const_cast<void*>(bias));
  product.c.set_data_handle(c);
  product.matmul.execute(onednn_->stream, product.arguments);
  onednn_->stream.wait();
} catch (const dnnl::error& error) {
  throw_onednn("multiply matrices", error.status, error.what());
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float factor, const Strided& a,
              const Strided& b, float keep, float* c, std::int64_t c_stride) {
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, factor,
                                          a.data, a.stride, b.data, b.stride, keep, c, c_stride);
  if (status != dnnl_success) throw_onednn("multiply matrices", status, "dnnl_sgemm failed");
}

std::string onednn_description() {
  const dnnl_version_t& version = *dnnl_version();
  const char* vectors = "SSE4.1";
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41: break;
    case dnnl::cpu_isa::avx: vectors = "AVX"; break;
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx2_vnni: vectors = "AVX2"; break;
    default: vectors = "AVX512"; break;
  }
  return fmt::format("oneDNN {}.{}.{}, {}", version.major, version.minor, version.patch, vectors);
}

}  // namespace ddbench::device::cpu
