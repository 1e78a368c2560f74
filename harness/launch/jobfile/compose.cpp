#include <fmt/format.h>

#include "core/error.h"
#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

constexpr const char* kStore = "/results/results.db";
constexpr const char* kSharedMemory = "8gb";
constexpr int kStackBytes = 64 << 20;

Document gpus_of_node(const Job& job, int node) {
  Document ids = Document::array();
  for (int gpu = 0; gpu < job.run_case.gpus_per_node; ++gpu) {
    ids.push_back(std::to_string(node * job.run_case.gpus_per_node + gpu));
  }
  const Document device = {{"driver", "nvidia"}, {"device_ids", ids}, {"capabilities", {"gpu"}}};
  return {{"resources", {{"reservations", {{"devices", Document::array({device})}}}}}};
}

/// "64G" as Compose and Docker write GiB.
std::string lower(std::string memory) {
  memory.back() = memory.back() == 'G' ? 'g' : 'm';
  return memory;
}

Document service(const Job& job, int node) {
  Document service;
  service["image"] = image(job);
  service["hostname"] = fmt::format("node{}", node);
  service["environment"] = {{"MASTER_ADDR", "node0"},
                            {"MASTER_PORT", "29500"},
                            {"NODE_RANK", std::to_string(node)},
                            {kTokenVariable, fmt::format("${{{}:?is not set}}", kTokenVariable)}};
  if (!job.interface.empty()) {
    service["environment"]["NCCL_SOCKET_IFNAME"] = job.interface;
    service["environment"]["GLOO_SOCKET_IFNAME"] = job.interface;
  }
  for (const auto& [key, value] : job.environment_variables) service["environment"][key] = with_doubled_dollars(value);
  service["command"] = {"bash", "-c", with_doubled_dollars(node_script(job, "NODE_RANK", kStore))};
  service["volumes"] = Document::array({"./results:/results"});
  service["stop_grace_period"] = "60s";
  // NCCL and data loaders share memory between processes: Docker's 64 MB end in a bus error.
  service["shm_size"] = job.resources.shared_memory.empty() ? kSharedMemory : lower(job.resources.shared_memory);
  if (!job.resources.memory.empty()) service["mem_limit"] = lower(job.resources.memory);
  if (job.resources.cpus > 0) service["cpus"] = job.resources.cpus * processes_per_node(job);
  if (job.run_case.requested_network == NetworkRequest::kInfiniBand) service["devices"] = Document::array({"/dev/infiniband:/dev/infiniband"});
  if (job.run_case.requested_network == NetworkRequest::kInfiniBand) service["cap_add"] = Document::array({"IPC_LOCK"});
  service["ulimits"] = {{"memlock", -1}, {"stack", kStackBytes}};
  if (job.retries > 0) {
    service["restart"] = fmt::format("on-failure:{}", job.retries);
  } else if (is_restartable(job)) {
    service["restart"] = "on-failure";
  }
  if (job.gpus) service["deploy"] = gpus_of_node(job, node);
  return service;
}

std::string explanation(const Job& job) {
  std::string text =
      fmt::format("Start with:  {}=$({}) docker compose --file THIS_FILE up --abort-on-container-exit\n\n",
                  kTokenVariable, kMakeToken);
  text += fmt::format("{}: a secret of this run, by which its ranks know each other.\n", kTokenVariable);
  text +=
      "Each service is a node; all of them share this machine. The store is results/results.db beside this "
      "file.\n" +
      what_follows(job, "results/results.db");
  if (job.image.empty()) text += "image: put one in its place that has bash, and ddbench in its PATH.\n";
  if (job.gpus)
    text += "device_ids: the GPUs of each node; those of several nodes must be on this machine.\n";
  return comment(text);
}

}  // namespace

std::string compose(const Job& job) {
  if (job.mpi) {
    throw Error(ErrorCode::kBadInput,
                "--backend mpi cannot be started by compose: its containers have no mpirun between them; "
                "--emit kubeflow "
                "or sbatch can");
  }
  Document services;
  for (int node = 0; node < job.run_case.nodes; ++node)
    services[fmt::format("node{}", node)] = service(job, node);
  return explanation(job) + yaml({{"name", job_name(job)}, {"services", services}});
}

}  // namespace ddbench::job
