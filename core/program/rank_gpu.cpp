#include "core/program/rank_gpu.h"

#include <cstddef>

namespace ddbench {
namespace {

constexpr std::string_view kGpuBegin = "gpu: ";
constexpr std::size_t kUuidDigits = 32;
constexpr std::size_t kLongestBusId = 20;

}  // namespace

std::string rank_gpu_name(const RankGpu& gpu) {
  return std::string(kGpuBegin) + gpu.uuid + " " + gpu.bus_id;
}

std::optional<RankGpu> parse_rank_gpu(std::string_view name) {
  if (!name.starts_with(kGpuBegin)) return std::nullopt;
  name.remove_prefix(kGpuBegin.size());
  if (name.size() <= kUuidDigits || name[kUuidDigits] != ' ') return std::nullopt;
  const std::string_view uuid = name.substr(0, kUuidDigits);
  const std::string_view bus_id = name.substr(kUuidDigits + 1);
  if (uuid.find_first_not_of("0123456789abcdef") != std::string_view::npos || bus_id.size() > kLongestBusId ||
      bus_id.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos)
    return std::nullopt;
  return RankGpu{std::string(uuid), std::string(bus_id)};
}

}  // namespace ddbench
