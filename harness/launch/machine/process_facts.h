#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace ddbench::launch {

/// This process's id in the process table that /proc shows: that of the host, also from inside a pid
/// namespace whose processes still see the host's /proc. Async-signal-safe.
pid_t host_pid() noexcept;

std::string host_name();
std::string boot_id();  ///< of this kernel; empty when it cannot be read

/// The peak resident set of this process (VmHWM); 0 when it cannot be read.
std::int64_t peak_memory_bytes();
/// The largest resident set of a child that has ended and was waited for, or of theirs.
std::int64_t peak_memory_of_children_bytes();

}  // namespace ddbench::launch
