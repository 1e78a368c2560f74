#include <fmt/format.h>

#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/pod.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

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
  std::string variables;  // mpirun takes those of the launcher's container to the workers
  for (const Document& variable : environment_of(job)) variables += " -x " + variable["name"].get<std::string>();
  const std::string command =
      fmt::format("exec mpirun --allow-run-as-root -n {} -x MASTER_ADDR={}-worker-0.{} -x MASTER_PORT=29500{} {}", job.run_case.world_size(),
                  name, name, variables, command_line(job, "env", kStore));
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

std::string explanation(const Job& job) {
  std::string text = how_to_apply(job);
  text += job.mpi ? "Needs Kubeflow's MPI operator (v2beta1). " : "Needs Kubeflow's training operator (v1). ";
  text += "A pod is a node.\n";
  if (job.image.empty()) {
    text += job.mpi ? "image: put one in its place that has ddbench in its PATH, Open MPI and, as the "
                      "operator asks, sshd.\n"
                    : "image: put one in its place that has bash, and ddbench in its PATH.\n";
  }
  return comment(text + about_pods(job));
}

}  // namespace

std::string kubeflow(const Job& job) {
  return explanation(job) + yaml(job.mpi ? mpi_job(job) : pytorch_job(job));
}

}  // namespace ddbench::job
