#pragma once

#include <cstddef>
#include <filesystem>

namespace ddbench::fuzz {

/// The newest runs that are reported, and compared with the oldest: these take longer than all else that is done with a store.
inline constexpr std::size_t kMostReported = 2;

/// What `show`, `report`, `export` and `scaling` make of a store; files of theirs are written into `out`.
void report_store(const std::filesystem::path& store, const std::filesystem::path& out);

/// What `list`, `compare`, `gate`, `diagnose --reference`, `history` and `batch` make of it.
void compare_in_store(const std::filesystem::path& store);

}  // namespace ddbench::fuzz
