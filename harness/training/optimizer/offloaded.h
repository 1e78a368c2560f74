#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harness/training/optimizer/optimizer.h"

namespace ddbench::ddp {

/// The optimizer of the host, over its own copies of the slices.
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<Slice> slices, device::Device& host)>;

/// An optimizer that works on the host for slices of `device` (ZeRO-Offload: Ren et al. 2021). The host keeps its state and the values that it
/// updates. Each update copies the slice's gradient to the host, and its new values back. Values of the device are read in a slice's first
/// update only: nothing else may change them afterwards. On a device that is a host itself, the copies stand for those to a GPU.
std::unique_ptr<Optimizer> make_offloaded(std::vector<Slice> slices, device::Device& device, workload::Probe& probe, const MakeOptimizer& make);

}  // namespace ddbench::ddp
