#include "harness/model/options.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::workload {

std::int64_t number_option(std::string_view workload, const WorkloadOptions& options, const std::string& name,
                           std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  const auto found = options.find(name);
  if (found == options.end()) return otherwise;
  const std::string& text = found->second;
  const auto value = number_from<std::int64_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("workload {}: {} \"{}\" is not allowed; give a whole number from {} to {} (default {})",
                  workload, name, text, least, most, otherwise));
}

}  // namespace ddbench::workload
