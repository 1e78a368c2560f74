#pragma once

#include <filesystem>

#include "analyzer/import/trace/rank_trace.h"

namespace ddbench::imports {

/// Reads a trace of PyTorch's profiler: Kineto's, also of AMD GPUs, or of a PyTorch without Kineto. Memory:
/// the spans, and 32 bytes for each call on the CPU while it is read. Throws Error{kBadInput} naming the file
/// and the offset for a damaged or incomplete trace, one without any event, or one whose times are further
/// apart than spans can represent.
RankTrace read_rank_trace(const std::filesystem::path& file);

}  // namespace ddbench::imports
