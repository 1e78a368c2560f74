#include "nccl_settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ddbench/collective/nccl_log.h"
#include "ddbench/record/nccl_event.h"

namespace ddbench::collective::nccl_backend {

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

TransportLog::TransportLog() {
  if (user_directs_nccl_log()) return;
  std::error_code error;
  const std::string suffix = kNcclLogSuffix;
  std::string name = (std::filesystem::temp_directory_path(error) / ("ddbench-XXXXXX" + suffix)).string();
  const int fd = error ? -1 : ::mkstemps(name.data(), static_cast<int>(suffix.size()));
  if (fd < 0) return;
  ::close(fd);
  file_ = name;
  ::setenv("NCCL_DEBUG", kNcclLogLevel, 1);
  ::setenv("NCCL_DEBUG_SUBSYS", kNcclLogSubsystems, 0);
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
  NcclTransports transports;
  transports.add(log.view());
  const std::string ways = transports.text();
  return ways.empty() ? "unknown: NCCL's log names none" : ways;
}

}  // namespace ddbench::collective::nccl_backend
