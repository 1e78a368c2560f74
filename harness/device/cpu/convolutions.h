#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>

#include "harness/device/cpu/scratch.h"
#include "harness/device/network_operators.h"

namespace ddbench::device::cpu {

struct OneDnn;

struct ConvolutionShape {
  Window window;
  std::int64_t in = 0;   ///< channels
  std::int64_t out = 0;  ///< channels
  DataType type = DataType::kFloat32;
  friend auto operator<=>(const ConvolutionShape&, const ConvolutionShape&) = default;
};

/// oneDNN's convolutions of NHWC images. oneDNN blocks the weights as it likes best, so they are reordered
/// in each call, through one scratch piece for all shapes. A primitive is made once for each shape.
class Convolutions {
 public:
  explicit Convolutions(Scratch& scratch);
  ~Convolutions();

  void forward(const ConvolutionShape& shape, const void* x, const void* weight, void* y);
  void backward_input(const ConvolutionShape& shape, const void* dy, const void* weight, void* dx);
  void backward_weight(const ConvolutionShape& shape, const void* x, const void* dy, GradientWrite write,
                       float* dweight);

 private:
  struct Primitive;
  enum class Pass : std::uint8_t { kForward, kBackwardInput, kBackwardWeight };
  struct Key {
    ConvolutionShape shape;
    Pass pass;
    GradientWrite write;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Primitive& primitive(const Key& key);
  void run(const Key& key, const void* x, const void* weight, const void* y);

  Scratch& scratch_;
  std::unique_ptr<OneDnn> onednn_;
  std::map<Key, std::unique_ptr<Primitive>> primitives_;
};

}  // namespace ddbench::device::cpu
