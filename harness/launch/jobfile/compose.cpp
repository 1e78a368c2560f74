#include <fmt/format.h>

#include "core/error.h"
#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

constexpr const char* kStore = "/results/results.db";

Document gpus_of_node(const Job& job, int node) {
  Document ids = Document::array();
  for (int gpu = 0; gpu < job.run_case.gpus_per_node; ++gpu) {
    ids.push_back(std::to_string(node * job.run_case.gpus_per_node + gpu));
  }
  const Document device = {{"driver", "nvidia"}, {"device_ids", ids}, {"capabilities", {"gpu"}}};
  return {{"resources", {{"reservations", {{"devices", Document::array({device})}}}}}};
}

Document service(const Job& job, int node) {
  Document service;
  service["image"] = image(job);
  service["hostname"] = fmt::format("node{}", node);
  service["environment"] = {{"MASTER_ADDR", "node0"},
                            {"MASTER_PORT", "29500"},
                            {"NODE_RANK", std::to_string(node)},
                            {kTokenVariable, fmt::format("${{{}:?is not set}}", kTokenVariable)}};
  service["command"] = {"bash", "-c", with_doubled_dollars(node_script(job, "NODE_RANK", kStore))};
  service["volumes"] = Document::array({"./results:/results"});
  service["stop_grace_period"] = "60s";
  if (is_restartable(job)) service["restart"] = "on-failure";
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
      "file.\n";
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
