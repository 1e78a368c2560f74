#include "harness/launch/jobfile/job_file.h"

#include <fmt/format.h>

#include "core/error.h"
#include "harness/launch/jobfile/formats.h"
#include "harness/launch/jobfile/site_template.h"

namespace ddbench::job {

namespace {

void refuse_what_the_format_lacks(Format format, const Job& job) {
  const auto refuse = [](bool is_given, const char* what) {
    if (is_given) throw Error(ErrorCode::kBadInput, what);
  };
  const bool azureml = format == Format::kAzureMl;
  refuse(!azureml && !job.inputs.empty(), "--input is for --emit azureml: elsewhere name a folder that every node has");
  refuse(!azureml && !job.environment.empty(), "--environment is for --emit azureml; elsewhere name an --image");
  refuse(!job.environment.empty() && !job.image.empty(), "--environment and --image both say what the job runs in: give one");
  refuse(!azureml && job.tensorflow, "--distribution tensorflow is for --emit azureml; elsewhere ddbench sets TF_CONFIG itself");
  refuse(!azureml && job.tier == Tier::kLowPriority, "--tier is for --emit azureml; elsewhere the partition or the node pool decides");
  refuse(job.tensorflow && job.run_case.gpus_per_node > 1 && job.program.empty(), "--distribution tensorflow starts one process a node: it is for a program of yours, after --");
  refuse(job.tensorflow && job.mpi, "--distribution tensorflow and --backend mpi exclude each other");
  const bool kubernetes = format == Format::kKubeflow || format == Format::kTrainJob;
  const Resources& resources = job.resources;
  refuse(format == Format::kTrainJob && job.mpi, "--backend mpi cannot be started by a TrainJob; --emit kubeflow writes an MPIJob");
  refuse(!kubernetes && !resources.node_labels.empty(), "--node-label is for --emit kubeflow and trainjob; with Slurm choose a --partition");
  refuse(!kubernetes && !resources.tolerations.empty(), "--toleration is for --emit kubeflow and trainjob");
  refuse(format != Format::kSbatch && (!resources.time.empty() || resources.exclusive), "--job-time and --exclusive are for --emit sbatch");
  refuse(format == Format::kSbatch && !resources.shared_memory.empty(), "--shm-size is for containers; a node of Slurm has a /dev/shm of its own");
  refuse(azureml && (!resources.memory.empty() || resources.cpus > 0), "--job-memory and --job-cpus: a node of Azure ML has all of its --sku");
  refuse(job.mpi && job.command == "sweep" && format != Format::kSbatch,
         "--backend mpi: the ranks that mpirun starts are one world, whose size cannot be swept; --emit sbatch can");
}

std::string own_file(Format format, const Job& job) {
  switch (format) {
    case Format::kAzureMl: return azureml(job);
    case Format::kSbatch: return sbatch(job);
    case Format::kKubeflow: return kubeflow(job);
    case Format::kTrainJob: return trainjob(job);
    case Format::kCompose: break;
  }
  return compose(job);
}

}  // namespace

Format format_from(std::string_view name) {
  if (name == "azureml") return Format::kAzureMl;
  if (name == "sbatch") return Format::kSbatch;
  if (name == "kubeflow") return Format::kKubeflow;
  if (name == "trainjob") return Format::kTrainJob;
  if (name == "compose") return Format::kCompose;
  throw Error(ErrorCode::kBadInput,
              fmt::format("--emit is \"{}\", but it must be azureml, sbatch, kubeflow, trainjob or compose", name));
}

int processes_per_node(const Job& job) {
  return job.tensorflow ? 1 : job.run_case.gpus_per_node;
}

std::string job_file(Format format, const Job& job) {
  refuse_what_the_format_lacks(format, job);
  if (!job.run_case.link.empty()) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "--link {} shapes a network that is emulated on one machine; a job's nodes have the network "
            "that they have. Leave it out of --emit",
            job.run_case.link));
  }
  const std::string file = own_file(format, job);
  return job.site_template.empty() ? file : filled_template(job, format, file);
}

}  // namespace ddbench::job
