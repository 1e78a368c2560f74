#include "probes/recorder/spool_origin.h"

#include <unistd.h>

#include <array>

#include "probes/machine/kernel_files.h"

namespace ddbench::host {
namespace {

constexpr std::string_view kAlone = "alone ";

}  // namespace

SpoolOrigin origin_of_this_process() {
  std::array<char, 256> name{};
  const bool has_name = ::gethostname(name.data(), name.size() - 1) == 0;
  const Measured<std::string> boot_id = read_text("/proc/sys/kernel/random/boot_id");
  return {has_name ? name.data() : "", boot_id ? *boot_id : ""};
}

std::string to_run_id(const SpoolOrigin& origin) {
  return std::string(kAlone) + origin.host + "/" + origin.boot_id;
}

std::optional<SpoolOrigin> origin_from(std::string_view run_id) {
  const std::size_t slash = run_id.rfind('/');
  if (!run_id.starts_with(kAlone) || slash == std::string_view::npos) return std::nullopt;
  return SpoolOrigin{std::string(run_id.substr(kAlone.size(), slash - kAlone.size())),
                     std::string(run_id.substr(slash + 1))};
}

}  // namespace ddbench::host
