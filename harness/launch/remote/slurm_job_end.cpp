#include "harness/launch/remote/slurm_job_end.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace ddbench::launch {
namespace {

using Cause = JobEnd::Cause;

/// Ranks print into the same file: only lines of Slurm's own programs count.
bool is_of_slurm(std::string_view line) {
  return line.starts_with("srun: ") || line.starts_with("slurmstepd");
}

Cause cause_of(std::string_view line) {
  if (line.find(" CANCELLED ") == std::string_view::npos || line.find("*** ") == std::string_view::npos) return Cause::kNotKnown;
  const std::size_t due = line.find(" DUE TO ");
  if (due == std::string_view::npos) return Cause::kCancelled;
  const std::string_view why = line.substr(due);
  if (why.find("NODE FAIL") != std::string_view::npos) return Cause::kNodeLost;
  if (why.find("TIME LIMIT") != std::string_view::npos) return Cause::kTimeLimit;
  return Cause::kPreempted;  // PREEMPTION, JOB REQUEUE
}

/// 12 in "*** STEP 12.0 ON n1 CANCELLED" and "*** JOB 12 ON n1 CANCELLED".
std::string job_in(std::string_view line) {
  for (const std::string_view word : {"*** STEP ", "*** JOB "}) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + word.size());
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
  }
  return {};
}

void take_lost_node(const std::string& line, JobEnd& end) {
  constexpr std::string_view kWords = "Node failure on ";
  const std::size_t at = line.find(kWords);
  if (at == std::string::npos) return;
  end.cause = Cause::kNodeLost;
  std::string node = line.substr(at + kWords.size());
  while (!node.empty() && (node.back() == '\r' || node.back() == ' ')) node.pop_back();
  if (std::find(end.lost_nodes.begin(), end.lost_nodes.end(), node) == end.lost_nodes.end()) end.lost_nodes.push_back(node);
}

}  // namespace

JobEnd slurm_job_end(std::string_view printed) {
  JobEnd end;
  std::istringstream lines{std::string(printed)};
  for (std::string line; std::getline(lines, line);) {
    if (!is_of_slurm(line)) continue;
    if (const Cause cause = cause_of(line); cause != Cause::kNotKnown && end.cause != Cause::kNodeLost) {
      end.cause = cause;
      end.job = cause == Cause::kCancelled ? job_in(line) : std::string();
    }
    take_lost_node(line, end);
  }
  return end;
}

bool is_still_running(std::string_view shown) noexcept {
  return shown.find(" JobState=RUNNING ") != std::string_view::npos;
}

JobEnd slurm_job_end_in(const std::filesystem::path& log) {
  constexpr std::streamoff kEnough = 64 << 10;
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(size > kEnough ? size - kEnough : 0);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return slurm_job_end(text);
}

}  // namespace ddbench::launch
