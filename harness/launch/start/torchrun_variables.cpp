#include "harness/launch/start/torchrun_variables.h"

#include <nlohmann/json.hpp>

namespace ddbench::launch {

std::map<std::string, std::string> torchrun_variables(const RankPlace& place, const Endpoint& master) {
  const std::string node = std::to_string(place.rank / place.ranks_per_node);
  return {{"RANK", std::to_string(place.rank)},
          {"WORLD_SIZE", std::to_string(place.nodes * place.ranks_per_node)},
          {"LOCAL_RANK", std::to_string(place.rank % place.ranks_per_node)},
          {"LOCAL_WORLD_SIZE", std::to_string(place.ranks_per_node)},
          {"NNODES", std::to_string(place.nodes)},
          {"NODE_RANK", node},
          {"GROUP_RANK", node},
          {"MASTER_ADDR", master.address},
          {"MASTER_PORT", std::to_string(master.port)}};
}

std::string tf_config(const std::vector<Endpoint>& workers, int rank) {
  nlohmann::json addresses = nlohmann::json::array();
  for (const Endpoint& worker : workers) addresses.push_back(to_string(worker));
  return nlohmann::json{{"cluster", {{"worker", addresses}}}, {"task", {{"type", "worker"}, {"index", rank}}}}.dump();
}

}  // namespace ddbench::launch
