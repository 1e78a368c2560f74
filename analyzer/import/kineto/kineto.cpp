#include "analyzer/import/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/import/kineto/rank_reader.h"
#include "core/error.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

constexpr TraceOrigin kPyTorch{"kineto", "PyTorch tells with record_shapes=True", "was ProfilerActivity.CUDA on?",
                               "Call profiler.step() after each one to mark them"};

bool is_trace_name(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

}  // namespace

std::vector<fs::path> trace_files(const std::vector<fs::path>& files_and_folders) {
  std::vector<fs::path> files;
  for (const fs::path& path : files_and_folders) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.is_regular_file(error) && is_trace_name(entry.path())) files.push_back(entry.path());
    }
    if (files.size() == before) {
      throw Error(ErrorCode::kBadInput, fmt::format("{}: this folder has no *.json or *.json.gz, or cannot be read", path.string()),
                  0, path.string());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
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
