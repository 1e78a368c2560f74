#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/model/layers/memory_plan.h"
#include "harness/model/layers/network.h"

namespace ddbench::workload {

/// Where everything that a network computes lies, for one batch size. Time runs through the nodes forward,
/// and back again.
struct NetworkMemory {
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::vector<Lifetime> pieces;
  std::vector<std::size_t> values;     ///< by value: its piece; kNowhere: it lies in the batch
  /// By value: its piece after forward, where it is computed again; kNowhere: the same.
  std::vector<std::size_t> again;
  std::vector<std::size_t> gradients;  ///< by value: its gradient's piece; kNowhere: it has none
  std::vector<std::size_t> spares;  ///< by node: where it computes a gradient that it must add; or kNowhere
};

NetworkMemory memory_of(const Network& network, std::int64_t batch);

/// Rows of a value for a whole batch.
std::int64_t rows_of(const ValueInfo& value, std::int64_t batch) noexcept;
device::DataType type_of(const Network& network, const ValueInfo& value) noexcept;

/// The weights in 16 bits that a model of the network keeps beside its parameters.
std::int64_t copied_weight_bytes(const Network& network);
/// The most that the weights of one layer take in 16 bits: where they are copied layer by layer. 0 in float32.
std::int64_t weight_scratch_bytes(const Network& network);
/// What a weight takes of it: whole cache lines.
std::int64_t scratch_bytes(const ParameterSpec& spec, device::DataType type) noexcept;
/// What a model of the network allocates besides parameters and their gradients.
std::int64_t memory_bytes(const Network& network, std::int64_t batch);

}  // namespace ddbench::workload
