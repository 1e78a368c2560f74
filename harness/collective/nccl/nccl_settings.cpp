#include "harness/collective/nccl/nccl_settings.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/nccl_event.h"
#include "harness/collective/nccl_log.h"

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

namespace {

std::string path_of(const UniqueFd& memory) {
  return kNcclLogInMemory + std::to_string(memory.get());
}

}  // namespace

TransportLog::TransportLog() {
  if (user_directs_nccl_log()) return;
  memory_.reset(::memfd_create("nccl-log", MFD_CLOEXEC));
  if (!memory_) return;
  ::setenv("NCCL_DEBUG", kNcclLogLevel, 1);
  ::setenv("NCCL_DEBUG_SUBSYS", kNcclLogSubsystems, 0);
  ::setenv("NCCL_DEBUG_FILE", path_of(memory_).c_str(), 1);
}

std::string TransportLog::transports() const {
  if (!memory_) return "unknown: NCCL_DEBUG directs its log elsewhere";
  std::stringstream log;
  log << std::ifstream(path_of(memory_)).rdbuf();
  NcclTransports transports;
  transports.add(log.view());
  const std::string ways = transports.text();
  return ways.empty() ? "unknown: NCCL's log names none" : ways;
}

}  // namespace ddbench::collective::nccl_backend
