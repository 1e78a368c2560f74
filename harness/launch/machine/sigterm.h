#pragma once

namespace ddbench::launch {

/// Schedulers send SIGTERM to every process of a job, not only to the launcher. After this call SIGTERM does
/// not end this rank: it is reported to the launcher, which ends all ranks in order.
void expect_sigterm() noexcept;
/// Whether SIGTERM has come since.
bool sigterm_pending() noexcept;

}  // namespace ddbench::launch
