#include <fmt/format.h>

#include "core/run_case/program_case.h"
#include "harness/launch/jobfile/command.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/yaml.h"

namespace ddbench::job {
namespace {

constexpr const char* kStore = "outputs/results.db";

std::string explanation(const Job& job) {
  std::string text = fmt::format(
      "Submit with:  az ml job create --file THIS_FILE --set environment_variables.{}=$({})\n\n"
      "{}: a secret of this job, by which its ranks know each other. Who may read the job in the workspace\n"
      "can read it; a rank that is given none does only what its own command says.\n",
      kTokenVariable, kMakeToken, kTokenVariable);
  if (job.compute.empty()) text += "compute: put the name of your cluster in the place of CLUSTER.\n";
  if (job.image.empty()) {
    text +=
        "environment.image: put an image in its place that has ddbench in its PATH; azureml:NAME@latest as\n"
        "environment takes one of your workspace.\n";
  }
  if (!job.program.empty()) text += "code: the folder that holds the program; it is uploaded with the job.\n";
  if (job.store.empty())
    text += "What is in outputs/ is kept with the job: the store is outputs/results.db.\n";
  if (is_restartable(job)) {
    text +=
        "A low-priority node that is taken away takes its disk with it: to go on from checkpoints on another "
        "one,\n"
        "name a mounted datastore with --db and --checkpoint-dir.\n";
  }
  return comment(text);
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
  document["environment"] = {{"image", image(job)}};
  document["compute"] = "azureml:" + (job.compute.empty() ? "CLUSTER" : job.compute);
  document["resources"] = {{"instance_count", job.run_case.nodes}};
  document["distribution"] = {{"type", job.mpi ? "mpi" : "pytorch"},
                              {"process_count_per_instance", job.run_case.gpus_per_node}};
  document["environment_variables"] = Document::object();  // --set adds the secret here
  // Azure ML tells a rank of PyTorch's its place, but not how many share its node.
  if (!job.mpi) {
    document["environment_variables"]["LOCAL_WORLD_SIZE"] = std::to_string(job.run_case.gpus_per_node);
  }
  return explanation(job) + yaml(document);
}

}  // namespace ddbench::job
