#include "analyzer/import/nsys/export_machine.h"

#include <algorithm>

namespace ddbench::imports {
namespace {

constexpr std::int64_t kLatest_ns = std::int64_t{1} << 61;

}  // namespace

TraceInfo machine_of(const NsysExport& from) {
  TraceInfo info;
  if (from.has("TARGET_INFO_SYSTEM_ENV"))
    info.host = from.text("SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'");
  if (from.has("TARGET_INFO_GPU", "name")) {
    info.devices = static_cast<int>(std::clamp<std::int64_t>(from.integer("SELECT count(*) FROM TARGET_INFO_GPU"), 0, 1024));
    info.device_model = from.text("SELECT name FROM TARGET_INFO_GPU");
  }
  if (!from.has("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")) return info;
  const std::int64_t epoch_ns = from.integer("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
  const std::int64_t begin_ns =
      from.has("ANALYSIS_DETAILS", "startTime") ? from.integer("SELECT startTime FROM ANALYSIS_DETAILS") : 0;
  if (epoch_ns > 0 && epoch_ns < kLatest_ns && begin_ns >= 0 && begin_ns < kLatest_ns) info.base_ns = epoch_ns - begin_ns;
  return info;
}

}  // namespace ddbench::imports
