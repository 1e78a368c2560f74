#include "core/provenance.h"

#include <array>

namespace ddbench {
namespace {

constexpr std::array kAll = {Provenance::kMeasured,       Provenance::kEmulatedNetwork,
                             Provenance::kOversubscribed, Provenance::kReplayedCompute,
                             Provenance::kImported,       Provenance::kPredicted};

}  // namespace

std::vector<std::string_view> ProvenanceSet::names() const {
  std::vector<std::string_view> result;
  for (const Provenance flag : kAll) {
    if (has(flag)) result.push_back(to_string(flag));
  }
  return result;
}

std::string_view to_string(Provenance flag) noexcept {
  switch (flag) {
    case Provenance::kMeasured: return "measured";
    case Provenance::kEmulatedNetwork: return "emulated-network";
    case Provenance::kOversubscribed: return "oversubscribed";
    case Provenance::kReplayedCompute: return "replayed-compute";
    case Provenance::kImported: return "imported";
    case Provenance::kPredicted: return "predicted";
  }
  return "unknown";
}

}  // namespace ddbench
