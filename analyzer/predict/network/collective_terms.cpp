#include "analyzer/predict/network/collective_terms.h"

namespace ddbench::analyzer {

CollectiveTerms collective_terms(const std::string& function, const ClusterShape& shape) {
  const double n = shape.gpus();
  const double elsewhere = n - shape.gpus_per_node;  // ranks on other nodes
  const bool network = shape.nodes > 1;
  if (n <= 1) return {};
  if (function == "push" || function == "pull") return {1, network ? 1.0 : 0.0, n - 1, elsewhere};
  if (function == "all_to_all") return {n - 1, elsewhere, (n - 1) / n, shape.gpus_per_node * elsewhere / n};
  const double rounds = function == "all_reduce" ? 2 : 1;
  const bool rooted = function == "broadcast" || function == "reduce" || function == "gather" || function == "scatter";
  const double share = rooted ? 1 : rounds * (n - 1) / n;
  return {rounds * (n - 1), rounds * (shape.nodes - 1), share, network ? share : 0};
}

}  // namespace ddbench::analyzer
