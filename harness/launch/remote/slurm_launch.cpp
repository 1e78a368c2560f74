#include <fmt/format.h>

#include "core/error.h"
#include "harness/launch/remote/remote_launch.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::launch {
namespace {

std::string node_list(const std::vector<std::string>& hosts) {
  std::string list;
  for (const std::string& host : hosts) list += (list.empty() ? "" : ",") + host;
  return list;
}

/// A node of the job: one of the requested nodes, else one of the allocation. Outside an allocation, Slurm
/// has not chosen nodes yet.
std::string some_host(const LauncherOptions& options, const Variables& variables) {
  if (!options.hosts.empty()) return options.hosts.front();
  const auto list = variables.find("SLURM_JOB_NODELIST");
  return list == variables.end() ? std::string() : first_of_nodes(list->second);
}

}  // namespace

RemoteJob srun_job(const RunCase& run_case, const std::string& executable, const LauncherOptions& options,
                   const Variables& variables) {
  if (!options.hostfile.empty()) {
    throw Error(ErrorCode::kBadInput, "--hostfile is mpirun's; name the nodes for srun with --hosts");
  }
  RemoteJob job;
  job.launcher = "srun";
  // Node by node, as the case counts its ranks; ddbench pins them and ends them itself.
  job.command = {"srun",
                 fmt::format("--nodes={}", run_case.nodes),
                 fmt::format("--ntasks={}", run_case.world_size()),
                 fmt::format("--ntasks-per-node={}", run_case.gpus_per_node),
                 "--distribution=block",
                 "--cpu-bind=none",
                 "--kill-on-bad-exit=0"};
  if (!options.hosts.empty()) job.command.push_back("--nodelist=" + node_list(options.hosts));
  if (!options.partition.empty()) job.command.push_back("--partition=" + options.partition);
  if (!options.account.empty()) job.command.push_back("--account=" + options.account);
  // Within a step, as in `srun --pty bash`, whose cores a further step would wait for until it ends.
  if (variables.contains("SLURM_STEP_ID")) job.command.push_back("--overlap");
  job.command.insert(job.command.end(), options.arguments.begin(), options.arguments.end());
  job.command.insert(job.command.end(), {executable, "worker"});
  job.may_queue = !variables.contains("SLURM_JOB_ID");
  const std::string host = some_host(options, variables);
  if (host.empty() && options.interface.empty()) {
    throw Error(
        ErrorCode::kBadInput,
        "--launcher srun: outside of an allocation it is not known which nodes it will be; name the network "
        "interface of this machine that leads to them with --interface");
  }
  job.listen = report_endpoint(options, host);
  job.credentials.started.token = new_token();
  return job;
}

}  // namespace ddbench::launch
