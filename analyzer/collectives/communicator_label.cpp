#include "analyzer/collectives/communicator_label.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace ddbench::analyzer {

std::string communicator_label(const store::CommunicatorRecord& communicator, int world_size) {
  std::vector<std::string> parts;
  if (!communicator.members.empty()) {
    parts.push_back("ranks " + communicator.members);
  } else if (communicator.ranks != 0 && communicator.ranks != world_size) {
    parts.push_back(fmt::format("{} ranks", communicator.ranks));
  }
  if (communicator.ranks == 0) parts.emplace_back("size not known");
  if (communicator.place > 0) parts.push_back(fmt::format("communicator {}", communicator.place + 1));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace ddbench::analyzer
