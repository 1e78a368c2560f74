#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "harness/launch/machine/run_command.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/trust/run_token.h"
#include "probes/cuda/cuda_probe.h"

namespace ddbench::launch {
namespace {

std::ifstream opened(const char* option, const std::string& path) {
  std::ifstream file(path);
  if (file) return file;
  throw Error(ErrorCode::kBadInput, fmt::format("{} {}: there is no such file that can be read", option, path));
}

/// The first host of "name slots=2" lines.
std::string first_host_of(const std::string& hostfile) {
  std::ifstream file = opened("--hostfile", hostfile);
  for (std::string line, host; std::getline(file, line);) {
    if (std::istringstream(line) >> host && !host.starts_with('#')) return host;
  }
  throw Error(ErrorCode::kBadInput, fmt::format("--hostfile {} names no host", hostfile));
}

/// That of rank 0: "rank 0=name slot=0-3". Open MPI also takes "+n0", the first host of an allocation: then empty.
std::string host_of_rank_0(const std::string& rankfile) {
  std::ifstream file = opened("--rankfile", rankfile);
  for (std::string line, word, place; std::getline(file, line);) {
    std::istringstream words(line);
    if (!(words >> word >> place) || word != "rank" || !place.starts_with("0=")) continue;
    const std::string host = place.substr(2);
    return host.starts_with('+') ? "" : host;
  }
  throw Error(ErrorCode::kBadInput, fmt::format("--rankfile {} has no line \"rank 0=HOST slot=CORES\"", rankfile));
}

std::string without_slots(const std::string& host) {
  return host.substr(0, host.find(':'));
}

/// As many slots as a node has ranks, unless the user specified more.
std::string host_list(const LauncherOptions& options, int slots) {
  std::string list;
  for (const std::string& host : options.hosts) {
    list += (list.empty() ? "" : ",") + host;
    if (host.find(':') == std::string::npos) list += fmt::format(":{}", slots);
  }
  return list;
}

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// Node by node, as the case counts its ranks; ddbench pins them itself, to the cores that a rank file leaves them.
Words open_mpi_command(const RunCase& run_case, const LauncherOptions& options) {
  Words command = {"mpirun", "-np", std::to_string(run_case.world_size())};
  if (options.rankfile.empty()) {
    append(command, {"--map-by", fmt::format("ppr:{}:node", run_case.gpus_per_node), "--rank-by", "slot", "--bind-to", "none"});
  } else {
    append(command, {"--rankfile", options.rankfile});
  }
  if (!options.hosts.empty()) append(command, {"--host", host_list(options, run_case.gpus_per_node)});
  if (!options.hostfile.empty()) append(command, {"--hostfile", options.hostfile});
  // The values go with the job and not on a command line that others can read.
  for (const char* variable : {kLauncherVariable, kTokenVariable}) append(command, {"-x", variable});
  if (std::getenv(cuda::kGpuDetailVariable) != nullptr) append(command, {"-x", cuda::kGpuDetailVariable});
  return command;
}

/// It hands all variables on by itself. Intel MPI pins processes unless it is asked not to; the others do not know the variable.
Words hydra_command(const RunCase& run_case, const LauncherOptions& options) {
  if (!options.rankfile.empty())
    throw Error(ErrorCode::kBadInput, "--rankfile is Open MPI's, but the mpirun of this machine is MPICH's or Intel MPI's: use --hosts or --hostfile");
  Words command = {"mpirun", "-n", std::to_string(run_case.world_size()), "-ppn", std::to_string(run_case.gpus_per_node), "-genv", "I_MPI_PIN", "off"};
  if (!options.hosts.empty()) append(command, {"-hosts", fmt::format("{}", fmt::join(options.hosts, ","))});
  if (!options.hostfile.empty()) append(command, {"-f", options.hostfile});
  return command;
}

}  // namespace

Mpirun mpirun_of(std::string_view version) {
  for (const std::string_view word : {"HYDRA", "Intel(R) MPI"}) {
    if (version.find(word) != std::string_view::npos) return Mpirun::kHydra;
  }
  return Mpirun::kOpenMpi;
}

Mpirun installed_mpirun() try {
  return mpirun_of(run_tool({{"mpirun", "--version"}}));
} catch (const Error&) {
  return Mpirun::kOpenMpi;
}

RemoteJob mpirun_job(const RunCase& run_case, const std::string& executable, const LauncherOptions& options, Mpirun mpirun) {
  RemoteJob job;
  job.launcher = "mpirun";
  job.command = mpirun == Mpirun::kHydra ? hydra_command(run_case, options) : open_mpi_command(run_case, options);
  append(job.command, options.arguments);
  append(job.command, {executable, "worker"});
  std::string first_host;
  if (!options.hosts.empty()) first_host = without_slots(options.hosts.front());
  if (first_host.empty() && !options.hostfile.empty()) first_host = without_slots(first_host_of(options.hostfile));
  if (first_host.empty() && !options.rankfile.empty()) first_host = host_of_rank_0(options.rankfile);
  job.listen = report_endpoint(options, first_host);
  job.credentials.started.token = new_token();
  return job;
}

}  // namespace ddbench::launch
