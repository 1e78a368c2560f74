#include "linear_forward.h"

#include <fmt/format.h>

#include <dnnl.hpp>
#include <unordered_map>

#include "ddbench/record/error.h"

namespace ddbench::device::cpu {
namespace {

[[noreturn]] void throw_onednn(const char* what, dnnl_status_t status, const char* why) {
  throw Error(ErrorCode::kRunFailed, fmt::format("oneDNN could not {}: {}", what, why),
              static_cast<int>(status), what);
}

dnnl::primitive_attr fused_activation(Activation activation) {
  dnnl::primitive_attr attributes;
  if (activation == Activation::kRelu) {
    dnnl::post_ops post;
#if DNNL_VERSION_MAJOR >= 3
    post.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#else
    post.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#endif
    attributes.set_post_ops(post);
  }
  return attributes;
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const dnnl::memory::desc& x,
                                      const dnnl::memory::desc& weight, const dnnl::memory::desc& bias,
                                      const dnnl::memory::desc& y, const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, x, weight, bias, y, attributes};
#else
  return {dnnl::matmul::desc(x, weight, bias, y), attributes, engine};
#endif
}

}  // namespace

struct LinearForward::Engine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

struct LinearForward::Primitive {
  dnnl::matmul matmul;
  dnnl::memory x, weight, bias, y;
  std::unordered_map<int, dnnl::memory> arguments;
};

LinearForward::LinearForward() try : engine_(std::make_unique<Engine>()) {
} catch (const dnnl::error& error) {
  throw_onednn("start its CPU engine", error.status, error.what());
}

LinearForward::~LinearForward() = default;

LinearForward::Primitive& LinearForward::primitive(const Key& key) {
  const auto found = primitives_.find(key);
  if (found != primitives_.end()) return *found->second;

  using Desc = dnnl::memory::desc;
  using Dims = dnnl::memory::dims;
  constexpr auto kFloat = dnnl::memory::data_type::f32;
  const auto [batch, in, out, activation] = key;
  const Desc x({batch, in}, kFloat, Dims{in, 1});
  const Desc weight({in, out}, kFloat, Dims{1, in});  // torch.nn.Linear keeps [out, in]: read transposed
  const Desc bias({1, out}, kFloat, Dims{out, 1});
  const Desc y({batch, out}, kFloat, Dims{out, 1});
  const dnnl::engine& engine = engine_->engine;

  auto made = std::make_unique<Primitive>();
  made->matmul = dnnl::matmul(describe(engine, x, weight, bias, y, fused_activation(activation)));
  made->x = dnnl::memory(x, engine, nullptr);
  made->weight = dnnl::memory(weight, engine, nullptr);
  made->bias = dnnl::memory(bias, engine, nullptr);
  made->y = dnnl::memory(y, engine, nullptr);
  made->arguments = {{DNNL_ARG_SRC, made->x},
                     {DNNL_ARG_WEIGHTS, made->weight},
                     {DNNL_ARG_BIAS, made->bias},
                     {DNNL_ARG_DST, made->y}};
  return *primitives_.emplace(key, std::move(made)).first->second;
}

void LinearForward::run(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation,
                        const Tensor& y) try {
  Primitive& matmul = primitive({x.rows, x.columns, y.columns, activation});
  matmul.x.set_data_handle(x.data);
  matmul.weight.set_data_handle(weight.data);
  matmul.bias.set_data_handle(bias.data);
  matmul.y.set_data_handle(y.data);
  matmul.matmul.execute(engine_->stream, matmul.arguments);
  engine_->stream.wait();
} catch (const dnnl::error& error) {
  throw_onednn("compute a linear layer", error.status, error.what());
}

void product(bool transpose_a, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
             float beta, float* c) {
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a ? 'T' : 'N', 'N', m, n, k, 1.0F, a, transpose_a ? m : k, b, n, beta, c, n);
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
