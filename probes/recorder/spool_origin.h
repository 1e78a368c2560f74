#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddbench::host {

/// The origin of a spool that no launcher requested. It takes the place of the run id: a reader of several
/// such spools learns which ranks were on one machine, and so shared a clock.
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
