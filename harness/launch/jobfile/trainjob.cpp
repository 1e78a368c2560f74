#include <fmt/format.h>

#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/pod.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

constexpr const char* kApi = "trainer.kubeflow.org/v1alpha1";

std::string runtime_name(const Job& job) {
  return job_name(job) + "-runtime";
}

/// The trainer gives each pod torchrun's variables: the script of a node needs three of them under PyTorch's names.
std::string script(const Job& job) {
  return "export MASTER_ADDR=$PET_MASTER_ADDR MASTER_PORT=$PET_MASTER_PORT\n" + node_script(job, "PET_NODE_RANK", kStore);
}

/// Its pods are the job's: what a TrainJob can change of another runtime's pods differs between versions of the trainer.
Document runtime(const Job& job) {
  const Document container = {
      {"name", "node"}, {"command", {"bash", "-c", with_doubled_dollars(script(job))}}, {"env", environment_of(job)}};
  Document node = pod(job, container);
  node["spec"]["restartPolicy"] = "Never";
  Document work;
  if (job.retries > 0 || is_restartable(job)) work["backoffLimit"] = job.retries > 0 ? job.retries : 1000;
  else work["backoffLimit"] = 0;
  work["template"] = node;
  const Document labels = {{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}};
  const Document replicated = {{"name", "node"}, {"template", {{"metadata", {{"labels", labels}}}, {"spec", work}}}};
  const Document policy = {{"numNodes", job.run_case.nodes}, {"torch", {{"numProcPerNode", processes_per_node(job)}}}};
  return {{"apiVersion", kApi},
          {"kind", "TrainingRuntime"},
          {"metadata", {{"name", runtime_name(job)}, {"labels", {{"trainer.kubeflow.org/framework", "torch"}}}}},
          {"spec",
           {{"mlPolicy", policy}, {"template", {{"spec", {{"replicatedJobs", Document::array({replicated})}}}}}}}};
}

Document train_job(const Job& job) {
  return {{"apiVersion", kApi},
          {"kind", "TrainJob"},
          {"metadata", {{"name", job_name(job)}}},
          {"spec",
           {{"runtimeRef", {{"apiGroup", "trainer.kubeflow.org"}, {"kind", "TrainingRuntime"}, {"name", runtime_name(job)}}},
            {"trainer", {{"numNodes", job.run_case.nodes}, {"numProcPerNode", processes_per_node(job)}}}}}};
}

std::string explanation(const Job& job) {
  std::string text = how_to_apply(job);
  text += "Needs Kubeflow's trainer (v2: TrainJob of v1alpha1). A pod is a node. The runtime is this job's own.\n";
  if (job.image.empty()) text += "image: put one in its place that has bash, and ddbench in its PATH.\n";
  return comment(text + about_pods(job));
}

}  // namespace

std::string trainjob(const Job& job) {
  return explanation(job) + yaml(runtime(job)) + "---\n" + yaml(train_job(job));
}

}  // namespace ddbench::job
