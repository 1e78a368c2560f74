#pragma once

#include <filesystem>
#include <string_view>

#include "analyzer/import/kineto/trace_text.h"
#include "analyzer/import/trace/trace_info.h"

namespace ddbench::imports {

/// Reads one of the outermost members. Throws Error{kBadInput} naming file, offset and value if the value is
/// impossible.
void read_trace_member(std::string_view key, const JsonPiece& piece, const std::filesystem::path& file, TraceInfo& info);

/// The host in the file name that torch.profiler.tensorboard_trace_handler uses by default,
/// HOST_PID.TIME.pt.trace.json[.gz]; empty for any other name.
std::string host_in_name(const std::filesystem::path& file);

}  // namespace ddbench::imports
