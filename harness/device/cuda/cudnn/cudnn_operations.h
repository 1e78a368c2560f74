#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "harness/device/cuda/cudnn/cudnn_graph.h"

namespace ddbench::device::cuda {

/// The operations of a cuDNN graph in the making, and the tensors between them. All tensors of a graph have
/// as many dimensions; ids are the caller's to choose, from 0 on, and lie below kFirstInner. References that
/// are returned stay valid as long as this object. Throws Error{kRunFailed} for what cuDNN does not take.
class Operations {
 public:
  using Sizes = std::vector<std::int64_t>;
  using Inputs = std::initializer_list<std::reference_wrapper<const Descriptor>>;
  static constexpr std::int64_t kFirstInner = 1000;
  static constexpr std::int64_t kAlignment = 16;

  /// In the device's memory.
  const Descriptor& memory(std::int64_t id, cudnnDataType_t type, const Sizes& dimensions,
                           const Sizes& strides, std::int64_t alignment = kAlignment);
  /// One float32 of the host's memory, which is read when the graph is started.
  const Descriptor& number(std::int64_t id, std::size_t dimensions);
  /// What one operation hands on to another; it need not ever lie in memory. Dense, row by row.
  const Descriptor& inner(const Sizes& dimensions, cudnnDataType_t type = CUDNN_DATA_FLOAT);

  // Each returns its result, `y`. Sums are float32.
  /// A product of matrices, which are the last two dimensions.
  const Descriptor& matmul(const Descriptor& a, const Descriptor& b, const Descriptor& y);
  /// An operation on one to three inputs, in cuDNN's order; an input of size 1 in a dimension is broadcast
  /// along it.
  const Descriptor& pointwise(cudnnPointwiseMode_t mode, Inputs inputs, const Descriptor& y);
  /// Truth values: whether `mode` holds.
  const Descriptor& compare(cudnnPointwiseMode_t mode, const Descriptor& a, const Descriptor& b,
                            const Descriptor& y);
  /// Each place's index along `axis`.
  const Descriptor& index(std::int64_t axis, const Descriptor& like, const Descriptor& y);
  /// Over the dimensions in which `y` has size 1.
  const Descriptor& reduce(cudnnReduceTensorOp_t mode, const Descriptor& x, const Descriptor& y);
  /// A view of `x`: the same memory with other dimensions and strides.
  const Descriptor& view(const Descriptor& x, cudnnDataType_t type, const Sizes& dimensions,
                         const Sizes& strides);

  std::span<const Descriptor> all() const noexcept { return operations_; }

 private:
  const Descriptor& keep(Descriptor part) { return parts_.emplace_back(std::move(part)); }
  const Descriptor& add(Descriptor operation, const Descriptor& y);
  const Descriptor& pointwise(const Descriptor& rule, Inputs inputs, const Descriptor& y);

  std::deque<Descriptor> parts_;
  std::vector<Descriptor> operations_;
  std::int64_t inner_ = kFirstInner;
};

}  // namespace ddbench::device::cuda
