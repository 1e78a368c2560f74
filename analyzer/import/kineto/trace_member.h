#pragma once

#include <filesystem>
#include <string_view>

#include "analyzer/import/kineto/trace_text.h"
#include "analyzer/import/trace/trace_info.h"

namespace ddbench::imports {

/// Takes over one of the outermost members. Throws Error{kBadInput} naming file, offset and value for what it cannot be.
void read_trace_member(std::string_view key, const JsonPiece& piece, const std::filesystem::path& file, TraceInfo& info);

/// The host in the name that torch.profiler.tensorboard_trace_handler gives a file when nobody chooses another,
/// HOST_PID.TIME.pt.trace.json[.gz]; empty for any other name.
std::string host_in_name(const std::filesystem::path& file);

}  // namespace ddbench::imports
