#include "reports/formats/csv/fields.h"

#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <ctime>

namespace ddbench::reports::csv {

std::string real(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : std::string();
}

std::string real(const Measured<double>& value) {
  return value ? real(*value) : std::string();
}

std::string utc(std::int64_t wall_ns) {
  const std::time_t seconds = wall_ns / 1'000'000'000;
  std::tm fields{};
  if (wall_ns <= 0 || ::gmtime_r(&seconds, &fields) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", fields.tm_year + 1900, fields.tm_mon + 1,
                     fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec);
}

std::string partition_names() {
  std::string names;
  for (int i = 0; i < store::kStepPartCount; ++i)
    names += fmt::format(",{}_ns", store::to_string(static_cast<store::StepPart>(i)));
  return names;
}

std::string partition_values(const store::StepPartition& partition) {
  std::string values;
  for (const std::int64_t part_ns : partition.ns) values += fmt::format(",{}", part_ns);
  return values;
}

std::string empty_partition() {
  return std::string(store::kStepPartCount, ',');
}

}  // namespace ddbench::reports::csv
