#include "harness/launch/jobfile/pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/launch/jobfile/command.h"

namespace ddbench::job {
namespace {

constexpr const char* kClaim = "ddbench-results";
constexpr int kGrace_s = 60;
constexpr const char* kRdmaResource = "rdma/ib";

std::string secret_name(const Job& job) {
  return job_name(job) + "-token";
}

bool wants_infiniband(const Job& job) {
  return job.run_case.requested_network == NetworkRequest::kInfiniBand;
}

/// "64G" as Kubernetes writes GiB.
std::string binary_quantity(const std::string& memory) {
  return memory + "i";
}

/// NCCL and data loaders share memory between processes: the 64 MB of a container end in a bus error.
Document volumes_of_node(const Job& job) {
  Document shared_memory = {{"medium", "Memory"}};
  if (!job.resources.shared_memory.empty()) shared_memory["sizeLimit"] = binary_quantity(job.resources.shared_memory);
  return Document::array({{{"name", "results"}, {"persistentVolumeClaim", {{"claimName", kClaim}}}},
                          {{"name", "shared-memory"}, {"emptyDir", shared_memory}}});
}

Document limits_of_node(const Job& job) {
  Document limits;
  const int ranks = job.run_case.gpus_per_node;
  if (job.gpus) limits["nvidia.com/gpu"] = ranks;
  if (!job.gpus || job.resources.cpus > 0) limits["cpu"] = ranks * std::max(job.resources.cpus, 1);
  if (!job.resources.memory.empty()) limits["memory"] = binary_quantity(job.resources.memory);
  return limits;
}

/// Only nodes with all of the labels.
Document affinity_of(const Job& job) {
  Document expressions = Document::array();
  for (const auto& [key, value] : job.resources.node_labels)
    expressions.push_back({{"key", key}, {"operator", "In"}, {"values", Document::array({value})}});
  const Document term = {{"matchExpressions", expressions}};
  const Document terms = {{"nodeSelectorTerms", Document::array({term})}};
  return {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", terms}}}};
}

Document tolerations_of(const Job& job) {
  Document all = Document::array();
  for (const Toleration& toleration : job.resources.tolerations) {
    Document one = {{"key", toleration.key}, {"operator", toleration.value.empty() ? "Exists" : "Equal"}};
    if (!toleration.value.empty()) one["value"] = toleration.value;
    if (!toleration.effect.empty()) one["effect"] = toleration.effect;
    all.push_back(one);
  }
  return all;
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
                     reader, image(job), Document({{"spec", spec}}).dump(-1, ' ', false, Document::error_handler_t::replace), store);
}

}  // namespace

Document environment_of(const Job& job) {
  const Document reference = {{"name", secret_name(job)}, {"key", "token"}};
  Document variables = Document::array({{{"name", kTokenVariable}, {"valueFrom", {{"secretKeyRef", reference}}}}});
  if (!job.interface.empty()) {
    for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"})
      variables.push_back({{"name", name}, {"value", job.interface}});
  }
  for (const auto& [key, value] : job.environment_variables)
    variables.push_back({{"name", key}, {"value", with_doubled_dollars(value)}});
  return variables;
}

Document pod(const Job& job, Document container) {
  container["image"] = image(job);
  Document limits = limits_of_node(job);
  if (wants_infiniband(job)) {
    limits[job.rdma_resource.empty() ? kRdmaResource : job.rdma_resource] = 1;
    container["securityContext"] = {{"capabilities", {{"add", Document::array({"IPC_LOCK"})}}}};  // verbs pin memory
  }
  container["resources"] = {{"limits", limits}};
  container["volumeMounts"] = Document::array(
      {{{"name", "results"}, {"mountPath", "/results"}}, {{"name", "shared-memory"}, {"mountPath", "/dev/shm"}}});
  Document spec;
  if (!job.pull_secret.empty()) spec["imagePullSecrets"] = Document::array({{{"name", job.pull_secret}}});
  if (!job.resources.node_labels.empty()) spec["affinity"] = affinity_of(job);
  if (!job.resources.tolerations.empty()) spec["tolerations"] = tolerations_of(job);
  spec["terminationGracePeriodSeconds"] = kGrace_s;
  spec["containers"] = Document::array({std::move(container)});
  spec["volumes"] = volumes_of_node(job);
  return {{"spec", spec}};
}

std::string how_to_apply(const Job& job) {
  return fmt::format(
      "Submit with:  {} | kubectl create secret generic {} --from-file=token=/dev/stdin\n"
      "              kubectl apply --filename THIS_FILE\n\n"
      "The first command makes the secret by which the ranks of this job know each other ({}).\n",
      kMakeToken, secret_name(job), kTokenVariable);
}

std::string about_pods(const Job& job) {
  std::string text = fmt::format(
      "claimName: the volume that keeps the store{}; make a claim {} (ReadWriteMany) or name yours.\n",
      is_restartable(job) ? " and the checkpoints" : "", kClaim);
  if (wants_infiniband(job) && job.rdma_resource.empty()) {
    text += fmt::format("{}: put the name in its place by which your device plug-in offers InfiniBand (--rdma-resource).\n", kRdmaResource);
  }
  return text + fetching(job) + what_follows(job, "results.db");
}

}  // namespace ddbench::job
