#include "core/run_case/records.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench::store {
namespace {

constexpr std::array<std::string_view, 5> kStateNames = {"running", "done", "failed", "interrupted",
                                                         "preempted"};
constexpr std::array<std::string_view, kStepPartCount> kPartNames = {
    "forward",          "backward",          "optimizer", "other_compute", "cpu_wait",
    "exposed_transfer", "exposed_peer_wait", "copy",      "data_wait",     "host",
    "idle"};

}  // namespace

std::string_view to_string(RunState state) noexcept {
  const auto index = static_cast<std::size_t>(state);
  return index < kStateNames.size() ? kStateNames[index] : "unknown";
}

RunState run_state_from(std::string_view text) {
  for (std::size_t index = 0; index < kStateNames.size(); ++index) {
    if (kStateNames[index] == text) return static_cast<RunState>(index);
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("\"{}\" is no state of a run: it must be running, done, failed, "
                          "interrupted or preempted",
                          text));
}

std::string_view to_string(StepPart part) noexcept {
  const auto index = static_cast<std::size_t>(part);
  return index < kPartNames.size() ? kPartNames[index] : "unknown";
}

}  // namespace ddbench::store
