#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

enum class Format : std::uint8_t { kKineto, kFlightRecorder, kNsys, kHorovod, kNcclTests, kNcclInspector, kNcclRas, kSpools, kMlperf, kLog, kTable };
std::string_view to_string(Format format) noexcept;  ///< the subcommand of `ddbench import`: "kineto", "flight-recorder", ...

/// What a file is, by the beginning of its content, gzip or not; a folder by its files. Throws Error{kBadInput} that names
/// it and the formats that there are when it is none of them, or cannot be read.
Format recognise(const std::filesystem::path& path);

/// What all of these are. Throws as recognise, and where they are of different formats.
Format recognise(const std::vector<std::filesystem::path>& paths);

/// Whose lines a log of training has: "megatron", ... Throws as recognise, where they are nobody's.
std::string log_format_of(const std::filesystem::path& path);

}  // namespace ddbench::imports
