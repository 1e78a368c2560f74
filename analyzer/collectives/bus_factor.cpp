#include "analyzer/collectives/bus_factor.h"

#include <fmt/format.h>

#include <string_view>

#include "core/error.h"

namespace ddbench::analyzer {

double bus_factor(std::string_view function, int ranks) {
  const double n = ranks;
  if (function == "all_reduce") return 2 * (n - 1) / n;
  if (function == "all_gather" || function == "reduce_scatter" || function == "all_to_all")
    return (n - 1) / n;
  if (function == "broadcast" || function == "reduce" || function == "send_recv") return 1;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("no bus bandwidth is defined for the collective '{}': known are all_reduce, all_gather, "
                  "reduce_scatter, all_to_all, broadcast, reduce and send_recv",
                  function));
}

}  // namespace ddbench::analyzer
