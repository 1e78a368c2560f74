#pragma once

#include <filesystem>
#include <vector>

#include "analyzer/import/trace/import_trace.h"

namespace ddbench::imports {

/// The files *.json and *.json.gz of each folder, in order, and each file as it is. Throws Error{kBadInput} for a folder
/// without any.
std::vector<std::filesystem::path> trace_files(const std::vector<std::filesystem::path>& files_and_folders);

/// Makes one run of the traces that PyTorch's profiler wrote on the ranks of one job, a file a rank; ProfilerStep# marks
/// steps. Nothing is written before all files were read. Throws as read_rank_trace and import_traces.
TraceImport import_kineto(const std::filesystem::path& store_file, const std::vector<std::filesystem::path>& files,
                          const TraceOptions& options, const FileProgress& progress = {});

}  // namespace ddbench::imports
