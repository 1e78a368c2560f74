#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddbench::host {

/// Where a spool comes from that no launcher asked for. It stands in the place of the run id: whoever reads
/// several of them later learns which ranks were on one machine, and so had one clock.
struct SpoolOrigin {
  std::string host;
  std::string boot_id;  ///< of the kernel; empty when it is not known
};

SpoolOrigin origin_of_this_process();

/// "alone <host>/<boot id>".
std::string to_run_id(const SpoolOrigin& origin);
/// Inverse; nothing for the id of a run.
std::optional<SpoolOrigin> origin_from(std::string_view run_id);

}  // namespace ddbench::host
