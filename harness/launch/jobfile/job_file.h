#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/run_case/run_case.h"

namespace ddbench::job {

/// Who starts the job.
enum class Format {
  kAzureMl,   ///< command job of Azure Machine Learning's CLI v2
  kSbatch,    ///< batch script of Slurm
  kKubeflow,  ///< PyTorchJob of Kubeflow's training operator; MPIJob of its MPI operator for Job::mpi
  kCompose,   ///< Docker Compose, a service a node
};

/// A case, and what a file needs to know beside it.
struct Job {
  RunCase run_case;  ///< its sizes and its name are used
  std::vector<std::string>
      options;  ///< of `ddbench run` that make this case, without launcher, name and store
  std::vector<std::string> program;  ///< what follows --; empty for a reference workload
  std::string store;                 ///< --db; empty: where the format keeps results
  bool gpus = true;                  ///< a rank takes a GPU; else a core
  bool mpi = false;                  ///< ranks are started by mpirun instead of as PyTorch's are
  std::string image;                 ///< of containers; empty: a placeholder that the file explains
  std::string compute;               ///< Azure ML: name of the compute target; empty: a placeholder
  std::string partition;             ///< Slurm; empty: the cluster's default
  std::string account;               ///< Slurm; empty: the user's default
};

/// Of "azureml", "sbatch", "kubeflow", "compose"; anything else is an Error{kBadInput} that lists these.
Format format_from(std::string_view name);

/// The file that starts the case's ranks, each as `ddbench run --launcher env` with the variables that it
/// reads (sbatch: one `ddbench run --launcher srun`). A job with checkpoints is started again by its
/// scheduler when it is preempted, and goes on. Every placeholder is named in the comment that the file
/// begins with. Pure. Throws Error{kBadInput} for a case that the format cannot say: a shaped link, MPI in
/// compose.
std::string job_file(Format format, const Job& job);

}  // namespace ddbench::job
