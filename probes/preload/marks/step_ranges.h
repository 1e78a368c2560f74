#pragma once

#include <string_view>

namespace ddbench::inject {

/// Whether a range that a program calls so is a training step: "step", "train_step", "training step", "iteration" and "train_iteration",
/// in any case, with a number behind it or not ("Step 12", "iteration#3").
bool is_step_name(std::string_view name) noexcept;

/// The calling thread enters a range, or leaves the one that it entered last; `stack` distinguishes
/// separately nested ranges (an NVTX domain; any address). A step is recorded when its outermost range is
/// left. For other ranges it costs a few comparisons.
void enter_range(const void* stack, std::string_view name) noexcept;
void leave_range(const void* stack) noexcept;

}  // namespace ddbench::inject
