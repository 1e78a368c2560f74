#include "harness/collective/nccl_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>
#include <vector>

namespace ddbench::collective {
namespace {

/// The first word after " via ", cut after the part that names the transport.
std::string way_of(const std::string& line) {
  constexpr std::string_view kVia = " via ";
  const std::size_t via = line.find(kVia);
  if (via == std::string::npos) return {};
  const std::size_t begin = via + kVia.size();
  return line.substr(begin, line.find_first_of(" \t\r(", begin) - begin);
}

/// Whether the ports that NCCL's InfiniBand verbs use ("NET/IB : Using [0]mlx5_0:1/RoCE ...") are Ethernet
/// ports. If there are both kinds, the transports do not show which one is used.
bool uses_roce(std::string_view log) {
  const std::size_t begin = log.find("NET/IB : Using");
  if (begin == std::string_view::npos) return false;
  const std::string_view ports = log.substr(begin, log.find_first_of(";\n", begin) - begin);
  return ports.find("/RoCE") != std::string_view::npos &&
         ports.find("/IB", 1 + ports.find(':')) == std::string_view::npos;
}

}  // namespace

bool user_directs_nccl_log() noexcept {
  return std::getenv("NCCL_DEBUG") != nullptr || std::getenv("NCCL_DEBUG_FILE") != nullptr;
}

void NcclTransports::add(std::string_view log) {
  const bool is_roce = uses_roce(log);
  std::istringstream lines{std::string(log)};
  for (std::string line; std::getline(lines, line);) {
    std::string way = way_of(line);
    if (is_roce && way.rfind("NET/IB", 0) == 0) way += " (RoCE)";
    if (!way.empty()) (way.rfind("NET/", 0) == 0 ? network_ : local_).insert(way);
  }
}

std::string NcclTransports::text() const {
  std::vector<std::string> all(network_.begin(), network_.end());
  all.insert(all.end(), local_.begin(), local_.end());
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace ddbench::collective
