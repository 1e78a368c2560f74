#include "analyzer/statistics/karp_flatt.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench::analyzer {

double karp_flatt(double speedup, double n) {
  if (!(speedup > 0) || !(n > 1)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("no serial fraction for a speedup of {} on {} processors: it needs S > 0 and N > 1",
                    speedup, n));
  }
  return (1 / speedup - 1 / n) / (1 - 1 / n);
}

}  // namespace ddbench::analyzer
