#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run_case/run_case.h"

namespace ddbench::ddp {

/// What a strategy sends in a step, by theory: bytes of gradients and parameters that leave a rank. Headers
/// of the network, barriers and negotiation are not counted.
struct StrategyTraffic {
  std::string formula;            ///< of the mean, for people: "2 (n-1)/n S"; S is the gradients' bytes
  double sent_bytes = 0;          ///< mean over ranks
  double busiest_sent_bytes = 0;  ///< by the rank that sends most
  double busiest_received_bytes = 0;
};

struct StrategyOption {
  std::string name;
  std::string default_value;
  std::string meaning;
};

/// A strategy as `ddbench list strategies` shows it.
struct StrategyDescription {
  std::string name;
  std::string description;
  std::vector<StrategyOption> options;
};

/// All strategies there are.
std::vector<StrategyDescription> strategies();

/// Of the case's strategy, on its own workload and number of ranks. Throws Error{kBadInput} as
/// check_supported.
StrategyTraffic strategy_traffic(const RunCase& run_case);

}  // namespace ddbench::ddp
