#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

/// The wording for ranks and how they ended, the same everywhere.
namespace ddbench::launch {

/// "rank 3 (node 1, pid 123)"; without the pid when it is not known (0).
std::string describe_rank(int rank, int node, std::int64_t pid);

/// "was killed by signal 9 (SIGKILL)" or "exited with code 3", from a wait status.
std::string describe_end(int wait_status);

/// "after step 17"; steps count from 0 as in the store. "before its first step was done" when none was.
std::string describe_progress(std::uint32_t steps_completed);

/// "5.0 s"
std::string describe_time(std::chrono::nanoseconds time);

/// The end of what a rank printed, on one line and short; empty when it printed nothing.
std::string last_words(const std::filesystem::path& log);

}  // namespace ddbench::launch
