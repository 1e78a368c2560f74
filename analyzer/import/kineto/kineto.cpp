#include "analyzer/import/kineto/kineto.h"

#include <utility>

#include "analyzer/import/kineto/rank_reader.h"
#include "analyzer/import/trace/folder_files.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

constexpr TraceOrigin kPyTorch{"kineto", "PyTorch writes them with record_shapes=True", "was ProfilerActivity.CUDA on?",
                               "Call profiler.step() after each one to mark them"};

}  // namespace

std::vector<fs::path> trace_files(const std::vector<fs::path>& files_and_folders) {
  return files_of_folders(files_and_folders, {".json", ".json.gz"});
}

TraceImport import_kineto(const fs::path& store_file, const std::vector<fs::path>& files, const TraceOptions& options,
                          const FileProgress& progress) {
  std::vector<RankTrace> traces;
  for (const fs::path& file : files) {
    if (progress) progress(traces.size(), files.size());
    traces.push_back(read_rank_trace(file));
  }
  return import_traces(store_file, std::move(traces), options, kPyTorch);
}

}  // namespace ddbench::imports
