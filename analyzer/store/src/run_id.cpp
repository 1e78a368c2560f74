#include <fmt/format.h>

#include <ctime>
#include <random>

#include "ddbench/record/clock.h"
#include "ddbench/store/records.h"

namespace ddbench::store {

RunId new_run_id() {
  const std::time_t seconds = wall_ns() / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::random_device random;
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}-{:08x}", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, random());
}

}  // namespace ddbench::store
