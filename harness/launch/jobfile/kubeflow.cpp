#include <fmt/format.h>

#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

constexpr const char* kStore = "/results/results.db";
constexpr const char* kClaim = "ddbench-results";
constexpr int kGrace_s = 60;
constexpr const char* kRdmaResource = "rdma/ib";

std::string secret_name(const Job& job) {
  return job_name(job) + "-token";
}

/// The run's secret, which is none of the file's.
Document environment_of(const Job& job) {
  const Document reference = {{"name", secret_name(job)}, {"key", "token"}};
  Document variables = Document::array({{{"name", kTokenVariable}, {"valueFrom", {{"secretKeyRef", reference}}}}});
  if (job.interface.empty()) return variables;
  for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"})
    variables.push_back({{"name", name}, {"value", job.interface}});
  return variables;
}

bool wants_infiniband(const Job& job) {
  return job.run_case.requested_network == NetworkRequest::kInfiniBand;
}

/// NCCL and data loaders share memory between processes: the 64 MB of a container end in a bus error.
Document volumes_of_node() {
  return Document::array({{{"name", "results"}, {"persistentVolumeClaim", {{"claimName", kClaim}}}},
                          {{"name", "shared-memory"}, {"emptyDir", {{"medium", "Memory"}}}}});
}

/// A pod that is a node; `container` is complete but for what all nodes have.
Document pod(const Job& job, Document container) {
  container["image"] = image(job);
  Document limits = {{job.gpus ? "nvidia.com/gpu" : "cpu", job.run_case.gpus_per_node}};
  if (wants_infiniband(job)) {
    limits[job.rdma_resource.empty() ? kRdmaResource : job.rdma_resource] = 1;
    container["securityContext"] = {{"capabilities", {{"add", Document::array({"IPC_LOCK"})}}}};  // verbs pin memory
  }
  container["resources"] = {{"limits", limits}};
  container["volumeMounts"] = Document::array(
      {{{"name", "results"}, {"mountPath", "/results"}}, {{"name", "shared-memory"}, {"mountPath", "/dev/shm"}}});
  Document spec;
  if (!job.pull_secret.empty()) spec["imagePullSecrets"] = Document::array({{{"name", job.pull_secret}}});
  spec["terminationGracePeriodSeconds"] = kGrace_s;
  spec["containers"] = Document::array({std::move(container)});
  spec["volumes"] = volumes_of_node();
  return {{"spec", spec}};
}

/// With ExitCode, a status above 127 is taken for one that another try may mend; ddbench's of a preempted run is 130.
const char* restart_policy(const Job& job) {
  if (job.retries > 0) return "OnFailure";
  return is_restartable(job) ? "ExitCode" : "Never";
}

Document pytorch_job(const Job& job) {
  const Document container = {
      {"name", "pytorch"},
      {"command", {"bash", "-c", with_doubled_dollars(node_script(job, "RANK", kStore))}},
      {"env", environment_of(job)}};
  const auto replicas = [&](int count) {
    return Document{
        {"replicas", count}, {"restartPolicy", restart_policy(job)}, {"template", pod(job, container)}};
  };
  Document specs;
  specs["Master"] = replicas(1);
  if (job.run_case.nodes > 1) specs["Worker"] = replicas(job.run_case.nodes - 1);
  Document spec;
  if (job.retries > 0) spec["runPolicy"] = {{"backoffLimit", job.retries}};
  spec["pytorchReplicaSpecs"] = specs;
  return {{"apiVersion", "kubeflow.org/v1"}, {"kind", "PyTorchJob"}, {"metadata", {{"name", job_name(job)}}}, {"spec", spec}};
}

Document mpi_job(const Job& job) {
  const std::string name = job_name(job);
  // Ranks are filled node by node: rank 0 is on the first worker, which the operator names so.
  const std::string command = fmt::format(
      "exec mpirun --allow-run-as-root -n {} -x MASTER_ADDR={}-worker-0.{} -x MASTER_PORT=29500 -x {} {}",
      job.run_case.world_size(), name, name, kTokenVariable, command_line(job, "env", kStore));
  const Document launcher = {{"name", "launcher"},
                             {"image", image(job)},
                             {"command", {"bash", "-c", with_doubled_dollars(command)}},
                             {"env", environment_of(job)}};
  Document specs;
  Document policy = {{"cleanPodPolicy", "Running"}};
  if (job.retries > 0) policy["backoffLimit"] = job.retries;
  specs["Launcher"] = {{"replicas", 1},
                       {"restartPolicy", is_restartable(job) || job.retries > 0 ? "OnFailure" : "Never"},
                       {"template", {{"spec", {{"containers", Document::array({launcher})}}}}}};
  specs["Worker"] = {{"replicas", job.run_case.nodes}, {"template", pod(job, {{"name", "worker"}})}};
  return {{"apiVersion", "kubeflow.org/v2beta1"},
          {"kind", "MPIJob"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"slotsPerWorker", job.run_case.gpus_per_node},
            {"runPolicy", policy},
            {"mpiReplicaSpecs", specs}}}};
}

/// The pods of a job end with it, and kubectl cp needs one that lives: one that only holds the volume.
std::string fetching(const Job& job) {
  const std::string store = job.store.empty() ? kStore : job.store;
  if (!store.starts_with("/results/"))
    return fmt::format("--db {} is on no volume of this file and ends with its pod: mount one there, or name a file below /results.\n", store);
  const std::string reader = job_name(job) + "-results";
  const Document container = {{"name", "reader"},
                              {"image", image(job)},
                              {"command", {"sleep", "3600"}},
                              {"volumeMounts", Document::array({{{"name", "results"}, {"mountPath", "/results"}}})}};
  Document spec = {{"containers", Document::array({container})},
                   {"volumes", Document::array({{{"name", "results"}, {"persistentVolumeClaim", {{"claimName", kClaim}}}}})}};
  if (!job.pull_secret.empty()) spec["imagePullSecrets"] = Document::array({{{"name", job.pull_secret}}});
  return fmt::format("\nFetch the store when the job has ended, through a pod that mounts the same volume:\n"
                     "  kubectl run {0} --image={1} --restart=Never --overrides='{2}'\n"
                     "  kubectl wait --for=condition=Ready pod/{0}\n"
                     "  kubectl cp {0}:{3} results.db && kubectl delete pod {0}\n",
                     reader, image(job), Document({{"spec", spec}}).dump(), store);
}

std::string explanation(const Job& job) {
  std::string text = fmt::format(
      "Submit with:  {} | kubectl create secret generic {} --from-file=token=/dev/stdin\n"
      "              kubectl apply --filename THIS_FILE\n\n"
      "The first command makes the secret by which the ranks of this job know each other ({}).\n",
      kMakeToken, secret_name(job), kTokenVariable);
  text += job.mpi ? "Needs Kubeflow's MPI operator (v2beta1). " : "Needs Kubeflow's training operator (v1). ";
  text += "A pod is a node.\n";
  if (job.image.empty()) {
    text += job.mpi ? "image: put one in its place that has ddbench in its PATH, Open MPI and, as the "
                      "operator asks, sshd.\n"
                    : "image: put one in its place that has bash, and ddbench in its PATH.\n";
  }
  text += fmt::format(
      "claimName: the volume that keeps the store{}; make a claim {} (ReadWriteMany) or name yours.\n",
      is_restartable(job) ? " and the checkpoints" : "", kClaim);
  if (wants_infiniband(job) && job.rdma_resource.empty()) {
    text += fmt::format("{}: put the name in its place by which your device plug-in offers InfiniBand (--rdma-resource).\n", kRdmaResource);
  }
  text += fetching(job) + what_follows(job, "results.db");
  return comment(text);
}

}  // namespace

std::string kubeflow(const Job& job) {
  return explanation(job) + yaml(job.mpi ? mpi_job(job) : pytorch_job(job));
}

}  // namespace ddbench::job
