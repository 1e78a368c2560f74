#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/trust/run_token.h"
#include "probes/cuda/cuda_probe.h"

namespace ddbench::launch {
namespace {

/// The first host of "name slots=2" lines.
std::string first_host_of(const std::string& hostfile) {
  std::ifstream file(hostfile);
  if (!file) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--hostfile {}: there is no such file that can be read", hostfile));
  }
  for (std::string line, host; std::getline(file, line);) {
    if (std::istringstream(line) >> host && !host.starts_with('#')) return host;
  }
  throw Error(ErrorCode::kBadInput, fmt::format("--hostfile {} names no host", hostfile));
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

}  // namespace

RemoteJob mpirun_job(const RunCase& run_case, const std::string& executable, const LauncherOptions& options) {
  RemoteJob job;
  job.launcher = "mpirun";
  // Node by node, as the case counts its ranks; ddbench pins them itself.
  job.command = {"mpirun",
                 "-np",
                 std::to_string(run_case.world_size()),
                 "--map-by",
                 fmt::format("ppr:{}:node", run_case.gpus_per_node),
                 "--rank-by",
                 "slot",
                 "--bind-to",
                 "none"};
  std::string first_host;
  if (!options.hosts.empty()) {
    job.command.insert(job.command.end(), {"--host", host_list(options, run_case.gpus_per_node)});
    first_host = without_slots(options.hosts.front());
  }
  if (!options.hostfile.empty()) {
    job.command.insert(job.command.end(), {"--hostfile", options.hostfile});
    if (first_host.empty()) first_host = first_host_of(options.hostfile);
  }
  // The values go with the job and not on a command line that others can read.
  for (const char* variable : {kLauncherVariable, kTokenVariable}) {
    job.command.insert(job.command.end(), {"-x", variable});
  }
  if (std::getenv(cuda::kGpuDetailVariable) != nullptr) job.command.insert(job.command.end(), {"-x", cuda::kGpuDetailVariable});
  job.command.insert(job.command.end(), options.arguments.begin(), options.arguments.end());
  job.command.insert(job.command.end(), {executable, "worker"});
  job.listen = report_endpoint(options, first_host);
  job.credentials.started.token = new_token();
  return job;
}

}  // namespace ddbench::launch
