#include "options.h"

#include <fmt/format.h>

#include <charconv>

#include "ddbench/record/error.h"

namespace ddbench::workload {

std::int64_t number_option(std::string_view workload, const WorkloadOptions& options, const std::string& name,
                           std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  const auto found = options.find(name);
  if (found == options.end()) return otherwise;
  const std::string& text = found->second;
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && rest == text.data() + text.size() && value >= least && value <= most) {
    return value;
  }
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("workload {}: {} \"{}\" is not allowed; give a whole number from {} to {} (default {})",
                  workload, name, text, least, most, otherwise));
}

}  // namespace ddbench::workload
