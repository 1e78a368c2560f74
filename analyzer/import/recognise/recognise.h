#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

enum class Format : std::uint8_t { kKineto, kFlightRecorder, kNsys, kHorovod, kNcclTests, kNcclInspector, kNcclRas, kSpools, kMlperf, kLog, kTable };
std::string_view to_string(Format format) noexcept;  ///< the subcommand of `ddbench import`: "kineto", "flight-recorder", ...

/// The format of a file, from the beginning of its content, gzip or not; of a folder, from its files. Throws
/// Error{kBadInput} naming the path and the known formats when it has none of them, or cannot be read.
Format recognise(const std::filesystem::path& path);

/// What all of these are. Throws as recognise, and where they are of different formats.
Format recognise(const std::vector<std::filesystem::path>& paths);

/// The program that wrote a training log: "megatron", ... Throws as recognise if no known program wrote the
/// lines.
std::string log_format_of(const std::filesystem::path& path);

}  // namespace ddbench::imports
