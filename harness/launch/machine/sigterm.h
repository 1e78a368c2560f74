#pragma once

namespace ddbench::launch {

/// Schedulers tell every process of a job to end, not only the launcher. From here on SIGTERM does not end
/// this rank: the launcher is told and ends all ranks in order.
void expect_sigterm() noexcept;
/// Whether SIGTERM has come since.
bool told_to_end() noexcept;

}  // namespace ddbench::launch
