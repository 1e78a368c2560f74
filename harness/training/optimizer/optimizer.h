#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/device/device.h"
#include "harness/model/probe.h"

namespace ddbench::ddp {

/// A contiguous piece of a parameter that this rank's optimizer updates: all of it, or, where the optimizer
/// is sharded over ranks, what belongs to this rank.
struct Slice {
  std::string name;  ///< "layer0.weight", or "layer0.weight[512:1024]" for a part
  bool is_whole = true;
  bool is_matrix = false;  ///< of a parameter with more than one row (weights, not biases or scales)
  device::Tensor value;
  device::Tensor gradient;
};

struct NamedTensor {
  std::string name;
  device::Tensor tensor;
};

/// Updates slices in place and keeps a state for each. Every slice is updated once a step, or none of any
/// rank (LossScale). One thread.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// `updates`: how many the slice had before.
  virtual void update(std::size_t slice, std::uint32_t updates, double lr) = 0;
  /// The same of the slices from `first` on up to `end`, in as few pieces of work as the device allows.
  virtual void update_each(std::size_t first, std::size_t end, std::uint32_t updates, double lr) {
    for (std::size_t slice = first; slice < end; ++slice) update(slice, updates, lr);
  }
  /// Whether update_each() of all slices may be captured into a graph: its `updates` and `lr` are then those of prepare(),
  /// which comes before each launch.
  virtual bool can_be_captured() const { return false; }
  virtual void prepare(std::uint32_t /*updates*/, double /*lr*/) {}
  /// What a checkpoint must keep, "<slice>/<what>"; views that stay valid.
  virtual std::vector<NamedTensor> state() const = 0;
  /// Whose memory the state is in.
  virtual device::Device& state_device() = 0;
  /// What it keeps in the host's memory for a device beside it (make_offloaded).
  virtual std::int64_t offloaded_bytes() const { return 0; }
};

/// The optimizer that the case names: "sgd" and "adamw" as torch.optim.SGD and AdamW (beta 0.9 and 0.999),
/// "lars" (You, Gitman, Ginsburg 2017; trust coefficient 0.001) and "lamb" (You et al. 2020). These two scale
/// the step of each matrix by its norms; vectors are stepped plainly and without weight decay. They need
/// whole parameters: throws Error{kBadInput} for a part. The memory of slices must outlive the optimizer. Where the case
/// offloads it, the host updates (offloaded.h).
std::unique_ptr<Optimizer> make_optimizer(const RunCase& run_case, std::vector<Slice> slices,
                                          device::Device& device, workload::Probe& probe);

/// "sgd", ... separated by commas.
std::string_view optimizer_names() noexcept;
/// Throws Error{kBadInput} for a name that is none of them.
void check_optimizer(std::string_view name);
/// Numbers that an optimizer keeps for each parameter.
int optimizer_states(std::string_view name);
/// Whether it needs whole parameters.
bool is_layerwise(std::string_view name);
/// Whether the strategy option "offload" is "optimizer" rather than "none", its default. Throws Error{kBadInput} for another value.
bool is_offloaded(const RunCase& run_case);
/// Bytes that an offloaded optimizer keeps in the host's memory for values of this size in bytes: they, their gradients, its state.
std::int64_t offloaded_bytes(const RunCase& run_case, std::int64_t value_bytes);

}  // namespace ddbench::ddp
