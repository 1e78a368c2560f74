#pragma once

namespace ddbench::inject {

/// Makes PyTorch, if the process has loaded it, report each operator that it runs from now on, as
/// torch.profiler does: there is no other way to see computation in the oneDNN and the kernels inside a
/// wheel. PyTorch takes about half a microsecond per report, including nested operators. Once per process;
/// does nothing if there is a GPU, on which an operator only starts the computation, if
/// DDBENCH_TORCH_OPERATORS is 0, or before PyTorch is loaded. Safe to call again, from any thread.
void watch_torch_operators() noexcept;

}  // namespace ddbench::inject
