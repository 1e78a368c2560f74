#include "nccl_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace ddbench::collective::nccl_backend {
namespace {

/// The first word of what follows " via ", cut after the part that names the way.
std::string way_of(const std::string& line) {
  constexpr std::string_view kVia = " via ";
  const std::size_t via = line.find(kVia);
  if (via == std::string::npos) return {};
  const std::size_t begin = via + kVia.size();
  return line.substr(begin, line.find_first_of(" \t\r(", begin) - begin);
}

/// Whether the ports that NCCL's InfiniBand verbs use ("NET/IB : Using [0]mlx5_0:1/RoCE ...") are Ethernet's.
/// Where there are both kinds the ways do not tell which they take.
bool uses_roce(const std::string& log) {
  const std::size_t begin = log.find("NET/IB : Using");
  if (begin == std::string::npos) return false;
  const std::string ports = log.substr(begin, log.find_first_of(";\n", begin) - begin);
  return ports.find("/RoCE") != std::string::npos &&
         ports.find("/IB", 1 + ports.find(':')) == std::string::npos;
}

}  // namespace

std::string RankPlace::text() const {
  return host + '\n' + address + '\n' + gpu;
}

RankPlace RankPlace::parse(const std::string& text) {
  std::istringstream lines(text);
  RankPlace place;
  std::getline(lines, place.host);
  std::getline(lines, place.address);
  std::getline(lines, place.gpu);
  return place;
}

std::string host_id(const std::vector<RankPlace>& places, int rank) {
  bool share_a_gpu = false;
  bool are_emulated_nodes = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (places[i].host != places[j].host) continue;
      share_a_gpu = share_a_gpu || places[i].gpu == places[j].gpu;
      are_emulated_nodes = are_emulated_nodes || places[i].address != places[j].address;
    }
  }
  const RankPlace& own = places[static_cast<std::size_t>(rank)];
  if (share_a_gpu) return fmt::format("{}-rank-{}", own.host, rank);
  if (are_emulated_nodes) return fmt::format("{}-node-{}", own.host, own.address);
  return {};
}

std::string transports_in(const std::string& log) {
  std::set<std::string> network;
  std::set<std::string> local;
  const bool is_roce = uses_roce(log);
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::string way = way_of(line);
    if (is_roce && way.rfind("NET/IB", 0) == 0) way += " (RoCE)";
    if (!way.empty()) (way.rfind("NET/", 0) == 0 ? network : local).insert(way);
  }
  std::vector<std::string> all(network.begin(), network.end());
  all.insert(all.end(), local.begin(), local.end());
  return all.empty() ? "unknown: NCCL's log names none" : fmt::format("{}", fmt::join(all, ", "));
}

TransportLog::TransportLog() {
  if (std::getenv("NCCL_DEBUG") != nullptr || std::getenv("NCCL_DEBUG_FILE") != nullptr) return;
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "ddbench-nccl-XXXXXX").string();
  const int fd = error ? -1 : ::mkstemp(name.data());
  if (fd < 0) return;
  ::close(fd);
  file_ = name;
  ::setenv("NCCL_DEBUG", "INFO", 1);
  ::setenv("NCCL_DEBUG_SUBSYS", "INIT,P2P,SHM,NET", 0);
  ::setenv("NCCL_DEBUG_FILE", file_.c_str(), 1);
}

TransportLog::~TransportLog() {
  if (file_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

std::string TransportLog::transports() const {
  if (file_.empty()) return "unknown: NCCL_DEBUG directs its log elsewhere";
  std::stringstream log;
  log << std::ifstream(file_).rdbuf();
  return transports_in(log.str());
}

}  // namespace ddbench::collective::nccl_backend
