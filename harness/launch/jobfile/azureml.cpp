#include <fmt/format.h>

#include "core/run_case/program_case.h"
#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

constexpr const char* kStore = "outputs/results.db";

/// Without a compute target, a SKU is rented for the job alone.
bool is_serverless(const Job& job) {
  return job.compute.empty() && !job.run_case.sku.empty();
}

const char* azure_tier(Tier tier) {
  return tier == Tier::kLowPriority ? "low_priority" : "dedicated";
}

std::string about_compute(const Job& job) {
  if (is_serverless(job)) {
    return fmt::format("Runs on serverless compute: {} nodes of {}, rented for this job.\n", job.run_case.nodes, job.run_case.sku);
  }
  const std::string name = job.compute.empty() ? "CLUSTER" : job.compute;
  std::string text = job.compute.empty() ? "compute: put the name of your cluster in the place of CLUSTER.\n" : "";
  if (!job.run_case.sku.empty() || job.tier == Tier::kLowPriority) {
    text += fmt::format(
        "The cluster decides what its nodes are. One that fits:\n  az ml compute create --type amlcompute --name {} --size {} --tier {} "
        "--max-instances {}\n",
        name, job.run_case.sku.empty() ? "SKU" : job.run_case.sku, azure_tier(job.tier), job.run_case.nodes);
  }
  return text;
}

std::string explanation(const Job& job) {
  std::string text = fmt::format(
      "Submit with:  az ml job create --file THIS_FILE --set environment_variables.{}=$({})\n\n"
      "{}: a secret of this job, by which its ranks know each other. Who may read the job in the workspace\n"
      "can read it; a rank that is given none does only what its own command says.\n",
      kTokenVariable, kMakeToken, kTokenVariable);
  text += about_compute(job);
  if (job.image.empty() && job.environment.empty()) {
    text +=
        "environment.image: put an image in its place that has ddbench in its PATH; --environment azureml:NAME@latest\n"
        "takes a registered environment of your workspace, or a curated one.\n";
  }
  if (!job.program.empty()) text += "code: the folder that holds the program; it is uploaded with the job.\n";
  if (job.store.empty()) {
    text += "What is in outputs/ is kept with the job: the store is outputs/results.db. Fetch it with\n"
            "  az ml job download --name JOB --all\n" +
            what_follows(job, "artifacts/outputs/results.db");
  }
  if (is_restartable(job)) {
    text +=
        "A low-priority node that is taken away takes its disk with it: to go on from checkpoints on another "
        "one,\n"
        "name a mounted datastore with --db and --checkpoint-dir.\n";
  }
  if (job.retries > 0)
    text += "Azure ML starts a job again that loses low-priority nodes; other failures are not retried.\n";
  return comment(text);
}

Document inputs_of(const Job& job) {
  Document inputs;
  for (const Input& input : job.inputs)
    inputs[input.name] = {{"type", "uri_folder"}, {"path", input.path}, {"mode", "ro_mount"}};
  return inputs;
}

Document distribution_of(const Job& job) {
  if (job.tensorflow) return {{"type", "tensorflow"}, {"worker_count", job.run_case.nodes}};
  return {{"type", job.mpi ? "mpi" : "pytorch"}, {"process_count_per_instance", processes_per_node(job)}};
}

}  // namespace

std::string azureml(const Job& job) {
  Document document;
  document["$schema"] = "https://azuremlschemas.azureedge.net/latest/commandJob.schema.json";
  document["type"] = "command";
  document["display_name"] = job_name(job);
  document["experiment_name"] = "ddbench";
  document["description"] = fmt::format("{} nodes x {} ranks: {}", job.run_case.nodes,
                                        job.run_case.gpus_per_node, work_in_words(job.run_case));
  if (!job.program.empty()) document["code"] = ".";
  document["command"] = command_line(job, "env", kStore);
  if (!job.inputs.empty()) document["inputs"] = inputs_of(job);
  document["environment"] = job.environment.empty() ? Document{{"image", image(job)}} : Document(job.environment);
  if (!is_serverless(job)) document["compute"] = "azureml:" + (job.compute.empty() ? "CLUSTER" : job.compute);
  document["resources"] = {{"instance_count", job.run_case.nodes}};
  if (!job.resources.shared_memory.empty()) {
    std::string size = job.resources.shared_memory;  // Docker's units
    size.back() = size.back() == 'G' ? 'g' : 'm';
    document["resources"]["shm_size"] = size;
  }
  if (is_serverless(job)) {
    document["resources"]["instance_type"] = job.run_case.sku;
    document["queue_settings"] = {{"job_tier", job.tier == Tier::kLowPriority ? "spot" : "standard"}};
  }
  document["distribution"] = distribution_of(job);
  document["environment_variables"] = Document::object();  // --set adds the secret here
  // Azure ML gives a PyTorch rank its place, but not the number of ranks on its node.
  if (!job.mpi && !job.tensorflow) {
    document["environment_variables"]["LOCAL_WORLD_SIZE"] = std::to_string(processes_per_node(job));
  }
  for (const auto& [key, value] : job.environment_variables) document["environment_variables"][key] = value;
  return explanation(job) + yaml(document);
}

}  // namespace ddbench::job
