#include "analyzer/statistics/karp_flatt.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"

namespace ddbench::analyzer {

double karp_flatt(double speedup, double n) {
  if (!(speedup > 0) || !(n > 1)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("no serial fraction for a speedup of {} on {} processors: it needs S > 0 and N > 1",
                    speedup, n));
  }
  // N - S is exact near ideal scaling, where the difference of the reciprocals is mostly rounding.
  const double below_ideal = n - speedup;
  if (std::abs(below_ideal) < 1e-12 * n) return 0;
  return below_ideal / (speedup * (n - 1));
}

}  // namespace ddbench::analyzer
