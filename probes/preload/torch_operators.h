#pragma once

namespace ddbench::inject {

/// Asks PyTorch, where the process has loaded it, to tell of each operator that it runs from now on, as
/// torch.profiler does: what a wheel computes in the oneDNN and the kernels inside of it is seen in no other
/// way. PyTorch takes about half a microsecond to tell of one, of those inside of others too. Once a process;
/// nothing happens where there is a GPU, on which an operator only starts what computes, where
/// DDBENCH_TORCH_OPERATORS is 0, nor before PyTorch is loaded. Safe to call again, from any thread.
void watch_torch_operators() noexcept;

}  // namespace ddbench::inject
