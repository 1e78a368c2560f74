#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace ddbench::launch {

enum class Launcher {
  kLocal,   ///< on this machine, nodes as network namespaces
  kMpirun,  ///< Open MPI starts them on the hosts
  kSrun,    ///< Slurm starts them, in the allocation that this process is in or in a new one
  kEnv,  ///< they are there: this process was started as one of them (torchrun, mpirun, srun, Kubeflow, Azure
         ///< ML)
};

/// Which spans ranks elsewhere send of the steps that they train.
enum class SentSpans {
  kAuto,  ///< all, and sampled from 32 ranks on
  kAll,
  kSampled,  ///< all of one step in 16 and of slow ones; of the others what their partition needs
};

struct LauncherOptions {
  Launcher launcher = Launcher::kLocal;
  std::vector<std::string> hosts;      ///< mpirun and srun: where the nodes are; "name" or "name:slots"
  std::string hostfile;                ///< the same as a file of mpirun's, its path
  std::string rankfile;                ///< Open MPI's: the host and cores of each rank; its path
  std::string partition;               ///< of Slurm
  std::string account;                 ///< of Slurm
  std::vector<std::string> arguments;  ///< handed to mpirun or srun as they are
  std::string interface;  ///< whose address the ranks report to; empty: the one that leads to them
  int port = 0;           ///< where they report to; 0: one that is free (env: MASTER_PORT + 1)
  SentSpans spans = SentSpans::kAuto;
  bool share_gpus = false;                            ///< local: more ranks than GPUs are no mistake
  std::chrono::milliseconds start_deadline{120'000};  ///< for all ranks to connect and find each other
};

}  // namespace ddbench::launch
