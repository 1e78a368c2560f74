#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/launch/control/tcp.h"

namespace ddbench::launch {

/// The place of a rank in a run.
struct RankPlace {
  int rank = 0;
  int nodes = 1;
  int ranks_per_node = 1;
};

/// What a program reads to find its place and rank 0, named as torchrun names it; NNODES and NODE_RANK too.
std::map<std::string, std::string> torchrun_variables(const RankPlace& place, const Endpoint& master);

/// TF_CONFIG of a rank as TensorFlow's MultiWorkerMirroredStrategy reads it: every rank a worker, the first one the chief.
std::string tf_config(const std::vector<Endpoint>& workers, int rank);

}  // namespace ddbench::launch
