#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ddbench::launch {

using Variables = std::map<std::string, std::string>;

/// The environment of this process.
Variables environment_variables();

/// Who a process is in a world that somebody else has started.
struct Placement {
  std::string source;  ///< "torchrun", "Open MPI", ...; empty: not started as a rank
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_world_size = 1;
  std::string master_address;  ///< where rank 0 is, as far as known
  int master_port = 0;         ///< 0: not stated
  std::string job;  ///< a name of the job that its ranks share and other jobs do not; empty: not stated

  bool found() const noexcept { return !source.empty(); }
};

/// Reads the variables that torchrun (and Kubeflow, which sets the same), Open MPI (and Azure ML), PMI and
/// Slurm set for a process, and if there are none of these, TF_CONFIG. For torchrun's own processes only
/// torchrun's variables count, and for those of mpirun the Slurm job around it does not; otherwise, two that
/// disagree raise Error{kBadInput} naming both variables, and so do incomplete ones.
Placement read_placement(const Variables& variables);

/// The first node of a list as Slurm writes it: n3 of "n[3-5,9],m1".
std::string first_of_nodes(const std::string& list);

}  // namespace ddbench::launch
