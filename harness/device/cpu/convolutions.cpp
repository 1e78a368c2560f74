#include "harness/device/cpu/convolutions.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "harness/device/cpu/onednn.h"

namespace ddbench::device::cpu {
namespace {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Tag = dnnl::memory::format_tag;

constexpr auto kFloat = dnnl::memory::data_type::f32;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

/// Whole vectors, so that what follows is aligned.
std::int64_t in_vectors(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 63) / 64 * 64);
}

struct Geometry {
  explicit Geometry(const ConvolutionShape& shape)
      : x({shape.window.batch, shape.in, shape.window.height, shape.window.width}, onednn_type(shape.type),
          Tag::nhwc),
        y({shape.window.batch, shape.out, shape.window.out_height(), shape.window.out_width()},
          onednn_type(shape.type), Tag::nhwc),
        weight_dims{shape.out, shape.in, shape.window.kernel, shape.window.kernel},
        strides(2, shape.window.stride),
        padding(2, shape.window.padding) {}

  Desc weight(dnnl::memory::data_type type, Tag tag) const { return {weight_dims, type, tag}; }

  Desc x;
  Desc y;
  Dims weight_dims;
  Dims strides;
  Dims padding;
};

/// oneDNN 2.6 writes up to a vector beyond its scratchpad for the weights of 1x1 windows with a stride, where AVX2 is the widest
/// and the inputs have fewer channels than a vector. In a scratchpad of ours there is room for that.
constexpr std::int64_t kBeyondScratchpad = 64;

dnnl::primitive_attr with_own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

#if DNNL_VERSION_MAJOR >= 3
dnnl::convolution_forward::primitive_desc describe_forward(const dnnl::engine& engine, const Geometry& g,
                                                           const Desc& weight) {
  return {engine,   dnnl::prop_kind::forward_training, kDirect, g.x, weight, g.y, g.strides, g.padding,
          g.padding};
}
dnnl::convolution_backward_data::primitive_desc describe_input(const dnnl::engine& engine, const Geometry& g,
                                                               const Desc& weight) {
  return {engine,    kDirect,   g.x,
          weight,    g.y,       g.strides,
          g.padding, g.padding, describe_forward(engine, g, weight)};
}
dnnl::convolution_backward_weights::primitive_desc describe_weight(const dnnl::engine& engine,
                                                                   const Geometry& g, const Desc& weight,
                                                                   const Desc& forward_weight) {
  return {engine,    kDirect,   g.x,
          weight,    g.y,       g.strides,
          g.padding, g.padding, describe_forward(engine, g, forward_weight), with_own_scratchpad()};
}
#else
dnnl::convolution_forward::primitive_desc describe_forward(const dnnl::engine& engine, const Geometry& g,
                                                           const Desc& weight) {
  return {dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, kDirect, g.x, weight, g.y,
                                          g.strides, g.padding, g.padding),
          engine};
}
dnnl::convolution_backward_data::primitive_desc describe_input(const dnnl::engine& engine, const Geometry& g,
                                                               const Desc& weight) {
  return {dnnl::convolution_backward_data::desc(kDirect, g.x, weight, g.y, g.strides, g.padding, g.padding),
          engine, describe_forward(engine, g, weight)};
}
dnnl::convolution_backward_weights::primitive_desc describe_weight(const dnnl::engine& engine,
                                                                   const Geometry& g, const Desc& weight,
                                                                   const Desc& forward_weight) {
  return {
      dnnl::convolution_backward_weights::desc(kDirect, g.x, weight, g.y, g.strides, g.padding, g.padding),
      with_own_scratchpad(), engine, describe_forward(engine, g, forward_weight)};
}
#endif

}  // namespace

struct Convolutions::Primitive {
  dnnl::primitive convolution;
  dnnl::reorder reorder;      // of the weight before, or of its gradient after
  dnnl::memory x, y, weight;  // or their gradients, as the caller keeps them
  dnnl::memory blocked;       // the weight or its gradient, as oneDNN likes it
  dnnl::memory scratchpad;    // of kBackwardWeight
  std::unordered_map<int, dnnl::memory> arguments;

  void bind(int x_role, int y_role, int weight_role) {
    arguments = {{x_role, x}, {y_role, y}, {weight_role, blocked}};
  }
};

Convolutions::Convolutions(Scratch& scratch) try : scratch_(scratch), onednn_(std::make_unique<OneDnn>()) {
} catch (const dnnl::error& error) {
  throw_onednn("start its CPU engine", error.status, error.what());
}

Convolutions::~Convolutions() = default;

Convolutions::Primitive& Convolutions::primitive(const Key& key) {
  const auto found = primitives_.find(key);
  if (found != primitives_.end()) return *found->second;

  const dnnl::engine& engine = onednn_->engine;
  const Geometry g(key.shape);
  const auto type = onednn_type(key.shape.type);
  const Desc any = g.weight(type, Tag::any);
  auto made = std::make_unique<Primitive>();
  made->x = dnnl::memory(g.x, engine, nullptr);
  made->y = dnnl::memory(g.y, engine, nullptr);
  const bool of_weight = key.pass == Pass::kBackwardWeight;
  made->weight = dnnl::memory(g.weight(of_weight ? kFloat : type, Tag::ohwi), engine, nullptr);
  switch (key.pass) {
    case Pass::kForward: {
      const auto description = describe_forward(engine, g, any);
      made->blocked = dnnl::memory(description.weights_desc(), engine, nullptr);
      made->bind(DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS);
      made->convolution = dnnl::convolution_forward(description);
      break;
    }
    case Pass::kBackwardInput: {
      const auto description = describe_input(engine, g, any);
      made->blocked = dnnl::memory(description.weights_desc(), engine, nullptr);
      made->bind(DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS);
      made->convolution = dnnl::convolution_backward_data(description);
      break;
    }
    case Pass::kBackwardWeight: {
      const auto description = describe_weight(engine, g, g.weight(kFloat, Tag::any), any);
      made->blocked = dnnl::memory(description.diff_weights_desc(), engine, nullptr);
      made->scratchpad = dnnl::memory(description.scratchpad_desc(), engine, nullptr);
      made->bind(DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS);
      made->arguments.emplace(DNNL_ARG_SCRATCHPAD, made->scratchpad);
      made->convolution = dnnl::convolution_backward_weights(description);
      break;
    }
  }
  dnnl::post_ops post;
  if (key.write == GradientWrite::kAccumulate) post.append_sum(1.0F);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(post);
  made->reorder = of_weight ? dnnl::reorder(made->blocked, made->weight, attributes)
                            : dnnl::reorder(made->weight, made->blocked, attributes);
  return *primitives_.emplace(key, std::move(made)).first->second;
}

void Convolutions::run(const Key& key, const void* x, const void* weight, const void* y) try {
  Primitive& made = primitive(key);
  made.x.set_data_handle(const_cast<void*>(x));
  made.y.set_data_handle(const_cast<void*>(y));
  made.weight.set_data_handle(const_cast<void*>(weight));
  const bool of_weight = key.pass == Pass::kBackwardWeight;
  const std::int64_t blocked_bytes = in_vectors(made.blocked.get_desc().get_size());
  const std::int64_t scratchpad_bytes = of_weight ? in_vectors(made.scratchpad.get_desc().get_size()) + kBeyondScratchpad : 0;
  auto* const scratch = static_cast<std::byte*>(scratch_.bytes(blocked_bytes + scratchpad_bytes));
  made.blocked.set_data_handle(scratch);
  if (of_weight) made.scratchpad.set_data_handle(scratch + blocked_bytes);
  if (!of_weight) made.reorder.execute(onednn_->stream, made.weight, made.blocked);
  made.convolution.execute(onednn_->stream, made.arguments);
  if (of_weight) made.reorder.execute(onednn_->stream, made.blocked, made.weight);
  onednn_->stream.wait();
} catch (const dnnl::error& error) {
  throw_onednn("compute a convolution", error.status, error.what());
}

void Convolutions::forward(const ConvolutionShape& shape, const void* x, const void* weight, void* y) {
  run({shape, Pass::kForward, GradientWrite::kOverwrite}, x, weight, y);
}

void Convolutions::backward_input(const ConvolutionShape& shape, const void* dy, const void* weight,
                                  void* dx) {
  run({shape, Pass::kBackwardInput, GradientWrite::kOverwrite}, dx, weight, dy);
}

void Convolutions::backward_weight(const ConvolutionShape& shape, const void* x, const void* dy,
                                   GradientWrite write, float* dweight) {
  run({shape, Pass::kBackwardWeight, write}, x, dweight, dy);
}

}  // namespace ddbench::device::cpu
