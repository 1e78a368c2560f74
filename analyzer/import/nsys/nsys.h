#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/import/nsys/export_ranks.h"
#include "analyzer/import/trace/import_trace.h"

namespace ddbench::imports {

struct NsysOptions {
  TraceOptions trace;
  std::string step_range;  ///< the NVTX range that marks a step; empty: ProfilerStep#N
};

/// The files *.sqlite of each folder, in order, and each file as it is. Throws Error{kBadInput} for a folder without any.
std::vector<std::filesystem::path> nsys_files(const std::vector<std::filesystem::path>& files_and_folders);

/// Gives each process its rank: its rank in the largest NCCL communicator of which all processes reported to
/// be members; else the rank in the file's name if each file has one process; else its position by file and
/// GPU, which a note states. Processes that are no ranks are left out before, which a note states, too: those without
/// kernels where others have some, and, where several share a communicator, those that neither joined one nor ran a kernel
/// of NCCL. Throws Error{kBadInput} that names the file of a rank without the step range that read_nsys_export looked for.
std::vector<RankTrace> number_nsys_ranks(std::vector<std::vector<NsysRank>> files);

/// Makes one run of the exports of one job: a rank for each process that worked for it on a GPU. Nothing is written before all files were
/// read. Throws as read_nsys_export, number_nsys_ranks and import_traces.
TraceImport import_nsys(const std::filesystem::path& store_file, const std::vector<std::filesystem::path>& files,
                        const NsysOptions& options, const FileProgress& progress = {});

}  // namespace ddbench::imports
