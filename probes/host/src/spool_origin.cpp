#include "ddbench/host/spool_origin.h"

#include <unistd.h>

#include <array>

#include "kernel_files.h"

namespace ddbench::host {
namespace {

constexpr std::string_view kAlone = "alone";

}  // namespace

SpoolOrigin origin_of_this_process() {
  std::array<char, 256> name{};
  const bool has_name = ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  const Measured<std::string> boot_id = read_text("/proc/sys/kernel/random/boot_id");
  return {has_name ? name.data() : "unknown", boot_id ? *boot_id : "unknown"};
}

std::string to_run_id(const SpoolOrigin& origin) {
  return std::string(kAlone) + " " + origin.host + " " + origin.boot_id;
}

std::optional<SpoolOrigin> origin_from(std::string_view run_id) {
  const auto parts = words(run_id);
  if (parts.size() != 3 || parts[0] != kAlone) return std::nullopt;
  return SpoolOrigin{std::string(parts[1]), std::string(parts[2])};
}

}  // namespace ddbench::host
