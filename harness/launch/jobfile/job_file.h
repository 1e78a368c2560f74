#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/run_case/run_case.h"

namespace ddbench::job {

/// Who starts the job.
enum class Format {
  kAzureMl,   ///< command job of Azure Machine Learning's CLI v2
  kSbatch,    ///< batch script of Slurm
  kKubeflow,  ///< PyTorchJob of Kubeflow's training operator; MPIJob of its MPI operator for Job::mpi
  kTrainJob,  ///< TrainJob of Kubeflow's trainer (v2), with a TrainingRuntime of its own
  kCompose,   ///< Docker Compose, a service a node
};

/// Data that the scheduler makes available to the job (Azure ML).
struct Input {
  std::string name;
  std::string path;  ///< "azureml:imagenet@latest", "azureml://datastores/...", "https://..."
};

enum class Tier { kDedicated, kLowPriority };

/// A taint that the job's pods tolerate: "nvidia.com/gpu:NoSchedule", "pool=train:NoExecute".
struct Toleration {
  std::string key;
  std::string value;   ///< empty: any
  std::string effect;  ///< empty: any
};

/// What a node of the job gets beside its GPUs.
struct Resources {
  std::string memory;         ///< of a node: "64G", a number of GiB (M: MiB); empty: the scheduler's default
  std::string shared_memory;  ///< the same for /dev/shm of containers; empty: as the format chooses
  int cpus = 0;               ///< of a rank; 0: the scheduler's default
  std::string time;           ///< Slurm: limit, as sbatch takes it; empty: the partition's
  bool exclusive = false;     ///< Slurm: no other job on its nodes
  std::vector<std::pair<std::string, std::string>> node_labels;  ///< Kubernetes: only nodes with these
  std::vector<Toleration> tolerations;                           ///< Kubernetes
};

/// A case, and what a file needs to know beside it.
struct Job {
  RunCase run_case;  ///< its sizes and its name are used; of a sweep the largest sizes
  std::string command = "run";  ///< of ddbench: "run", "sweep" or "micro"
  std::vector<std::string>
      options;  ///< of the command that make this case, without launcher, name and store
  std::vector<std::string> program;  ///< what follows --; empty for a reference workload
  std::string store;                 ///< --db; empty: where the format keeps results
  bool gpus = true;                  ///< a rank takes a GPU; else a core
  bool mpi = false;                  ///< ranks are started by mpirun instead of as PyTorch's are
  std::string image;                 ///< of containers; empty: a placeholder that the file explains
  std::string environment;           ///< Azure ML: a registered or curated one, instead of `image`
  std::string compute;               ///< Azure ML: name of the compute target; empty: serverless with a SKU, else a placeholder
  std::vector<Input> inputs;         ///< Azure ML; ${{inputs.NAME}} in the command line is where one is mounted
  bool tensorflow = false;           ///< Azure ML: one process a node, which finds the others by TF_CONFIG
  Tier tier = Tier::kDedicated;      ///< Azure ML
  int retries = 0;                   ///< of a job that failed or lost its nodes; Kubeflow, sbatch (any number: --requeue)
  std::string interface;             ///< Kubeflow, compose: for NCCL and Gloo; empty: what they choose
  std::string rdma_resource;         ///< Kubeflow: the device plug-in's resource, with --network ib
  std::string pull_secret;           ///< Kubeflow: of the image's registry
  std::string partition;             ///< Slurm; empty: the cluster's default
  std::string account;               ///< Slurm; empty: the user's default
  Resources resources;
  std::vector<std::pair<std::string, std::string>> environment_variables;  ///< of every rank, in this order
  std::string site_template;  ///< text of a site's own file with placeholders (site_template.h); empty: ddbench's
};

/// Of "azureml", "sbatch", "kubeflow", "trainjob", "compose"; anything else is an Error{kBadInput} that lists these.
Format format_from(std::string_view name);

/// Processes of ddbench that the scheduler starts on a node: one for TensorFlow, whose process has all GPUs of its node, else one for
/// each rank. Of those, only the first of a node starts a program that starts its ranks by itself (--per-node).
int processes_per_node(const Job& job);

/// The file that starts the case's ranks, each as `ddbench run --launcher env` with the variables that it
/// reads (sbatch: one `ddbench run --launcher srun`). A job with checkpoints is started again by its
/// scheduler when it is preempted, and goes on. Every placeholder is named in the comment that the file
/// begins with. Pure. Throws Error{kBadInput} for a case that the format cannot say: a shaped link, MPI in
/// compose, inputs of data where the scheduler has none, a sweep of MPI's ranks outside of sbatch.
std::string job_file(Format format, const Job& job);

}  // namespace ddbench::job
