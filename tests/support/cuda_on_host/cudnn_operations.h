#pragma once

#include <cudnn_backend.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "numbers.h"

/// The operations of a cuDNN graph, as plain loops. What describes none is thrown out as a Refusal.
namespace ddbench::cuda_on_host {

struct Refusal {
  cudnnStatus_t status;
  std::string why;
};

inline void demand(bool holds, const char* what, cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM) {
  if (!holds) throw Refusal{status, what};
}

using Sizes = std::vector<std::int64_t>;
/// The numbers of a tensor, dense and in the order of its dimensions.
using Values = std::vector<float>;
/// Of several tensors.
using Inputs = std::vector<const Values*>;

struct GraphTensor {
  std::int64_t id = 0;
  Format format = Format::kFloat32;
  Sizes dimensions;
  Sizes strides;
  std::int64_t alignment = 1;
  bool is_virtual = false;
  bool is_by_value = false;

  bool is_in_memory() const { return !is_virtual && !is_by_value; }
  bool holds_numbers() const { return format != Format::kBoolean && format != Format::kInt32; }
  Values read(const void* memory) const;
  /// Rounds the values to what the tensor holds, and puts them into its memory where it has one.
  void write(Values& values, void* memory) const;
  friend bool operator==(const GraphTensor&, const GraphTensor&) = default;
};

struct GraphOperation {
  std::vector<GraphTensor> inputs;
  GraphTensor y;
  std::function<Values(const Inputs& inputs)> compute;
  bool has_engine = true;
};

struct PointwiseRule {
  cudnnPointwiseMode_t mode{};
  bool is_logical = false;  ///< computed with truth values
  std::int64_t axis = -1;   ///< of an index
};

/// Over two dimensions, rows first.
struct ConvolutionRule {
  using Pair = std::array<std::int64_t, 2>;
  Pair padding_before{}, padding_after{}, stride{}, dilation{};
};

enum class ConvolutionPass : std::uint8_t { kForward, kBackwardData, kBackwardFilter };

/// Of the matrices that the last two dimensions are.
GraphOperation matrix_product(const GraphTensor& a, const GraphTensor& b, const GraphTensor& y);
GraphOperation pointwise(const PointwiseRule& rule, const std::vector<GraphTensor>& inputs,
                         const GraphTensor& y);
/// Over the dimensions in which y has size 1.
GraphOperation reduction(cudnnReduceTensorOp_t mode, const GraphTensor& x, const GraphTensor& y);
/// What lies in x as its strides say, taken as y's dimensions and strides say: x's dimensions in another
/// order.
GraphOperation view(const GraphTensor& x, const GraphTensor& y);
/// Images x [n,c,h,w], weights w [k,c,r,s], results y [n,k,p,q]; the one that the pass makes is alpha times
/// the result, plus beta times what it was.
GraphOperation convolution(ConvolutionPass pass, const ConvolutionRule& rule, const GraphTensor& x,
                           const GraphTensor& w, const GraphTensor& y, float alpha, float beta);

/// Runs the operations of a graph in their order. `values` are those of the tensors by value.
void run(const std::vector<GraphOperation>& operations, const std::map<std::int64_t, void*>& memory,
         std::map<std::int64_t, Values> values);

}  // namespace ddbench::cuda_on_host
