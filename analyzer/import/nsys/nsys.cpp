#include "analyzer/import/nsys/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/import/trace/folder_files.h"
#include "core/error.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

constexpr TraceOrigin kNsys{"nsys",
                            "NCCL writes them with `nsys profile --trace=nvtx`, and `nsys export --include-blobs=true` keeps it",
                            "was --trace=cuda on?", "Put an NVTX range around each one, and name it with --step-range"};

using Files = std::vector<std::vector<NsysRank>>;

template <typename Visit>
void each_rank(Files& files, const Visit& visit) {
  for (std::vector<NsysRank>& file : files) {
    for (NsysRank& rank : file) visit(rank);
  }
}

/// The id of the largest one that every process is in.
std::optional<std::uint64_t> common_communicator(Files& files) {
  std::map<std::uint64_t, std::pair<std::size_t, int>> known;  // processes in it, its ranks
  std::size_t processes = 0;
  each_rank(files, [&](const NsysRank& rank) {
    ++processes;
    for (const auto& [id, communicator] : rank.communicators) {
      auto& [members, ranks] = known[id];
      ++members;
      ranks = communicator.ranks;
    }
  });
  std::optional<std::uint64_t> largest;
  for (const auto& [id, communicator] : known) {
    if (communicator.first == processes && (!largest || communicator.second > known[*largest].second)) largest = id;
  }
  return largest;
}

/// Leaves out processes that used a GPU beside the job: a monitor, a loader that copies.
std::vector<std::string> leave_out_helpers(Files& files) {
  bool any_kernels = false;
  each_rank(files, [&](const NsysRank& rank) { any_kernels = any_kernels || rank.trace.kernels > 0; });
  const auto lacks_kernels = [&](const NsysRank& rank) { return any_kernels && rank.trace.kernels == 0; };
  std::map<std::uint64_t, std::size_t> members;
  each_rank(files, [&](const NsysRank& rank) {
    if (lacks_kernels(rank)) return;
    for (const auto& [id, communicator] : rank.communicators) ++members[id];
  });
  const bool any_shared = std::any_of(members.begin(), members.end(), [](const auto& communicator) { return communicator.second > 1; });
  std::vector<std::string> left_out;
  for (std::vector<NsysRank>& file : files) {
    std::erase_if(file, [&](const NsysRank& rank) {
      const bool is_alone = rank.communicators.empty() && rank.trace.collectives.empty();
      if (!lacks_kernels(rank) && !(any_shared && is_alone)) return false;
      left_out.push_back(fmt::format("{} of {}", rank.pid, rank.trace.file.filename().string()));
      return true;
    });
  }
  std::erase_if(files, [](const std::vector<NsysRank>& file) { return file.empty(); });
  return left_out;
}

/// Numbers ranks by the names of the files; false if these do not state a rank, or a file has several
/// processes.
bool number_by_names(Files& files) {
  std::set<int> seen;
  for (const std::vector<NsysRank>& file : files) {
    const std::optional<int> rank = rank_in_path(file.front().trace.file);
    if (file.size() != 1 || !rank || !seen.insert(*rank).second) return false;
  }
  each_rank(files, [](NsysRank& rank) { rank.trace.info.rank = rank_in_path(rank.trace.file); });
  return true;
}

}  // namespace

std::vector<fs::path> nsys_files(const std::vector<fs::path>& files_and_folders) {
  return files_of_folders(files_and_folders, {".sqlite"});
}

std::vector<RankTrace> number_nsys_ranks(Files files) {
  const std::vector<std::string> helpers = leave_out_helpers(files);
  if (!helpers.empty())
    files.front().front().trace.notes.push_back(
        fmt::format("processes that ran no kernels, or communicated with no other, are no ranks and were left out: {}", fmt::join(helpers, ", ")));
  each_rank(files, [](const NsysRank& rank) {
    if (!rank.why_no_steps.empty())
      throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", rank.trace.file.string(), rank.why_no_steps), 0, rank.trace.file.string());
  });
  if (const auto world = common_communicator(files)) {
    each_rank(files, [&](NsysRank& rank) {
      const NsysCommunicator& communicator = rank.communicators.at(*world);
      rank.trace.info.rank = communicator.rank;
      rank.trace.info.world_size = communicator.ranks;
    });
  } else if (!number_by_names(files)) {
    int next = 0;
    each_rank(files, [&](NsysRank& rank) { rank.trace.info.rank = next++; });
    files.front().front().trace.notes.emplace_back("the exports do not say which rank a process is: they are numbered by file and GPU");
  }
  std::vector<RankTrace> traces;
  each_rank(files, [&](NsysRank& rank) { traces.push_back(std::move(rank.trace)); });
  return traces;
}

TraceImport import_nsys(const fs::path& store_file, const std::vector<fs::path>& files, const NsysOptions& options,
                        const FileProgress& progress) {
  Files read;
  for (const fs::path& file : files) {
    if (progress) progress(read.size(), files.size());
    read.push_back(read_nsys_export(file, options.step_range));
  }
  return import_traces(store_file, number_nsys_ranks(std::move(read)), options.trace, kNsys);
}

}  // namespace ddbench::imports
