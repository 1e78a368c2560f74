#pragma once

#include <filesystem>
#include <string_view>

namespace ddbench::cli {

/// Throws Error{kBadInput} when `file` could not be written: said before the work rather than after it.
/// Leaves no trace.
void check_writable(const std::filesystem::path& file);

/// Writes beside `file` and renames, so that nobody reads half a report. Throws Error{kRunFailed} that names
/// the file; then the old content is still there.
void write_report(const std::filesystem::path& file, std::string_view text);

}  // namespace ddbench::cli
