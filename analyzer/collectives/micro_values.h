#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/collectives/micro_table.h"

namespace ddbench::analyzer {

/// One measurement as the ranks stored it.
struct MicroMeasurement {
  MicroOperation operation = MicroOperation::kAllReduce;
  std::int64_t bytes = 0;
  bool in_place = false;
  std::int64_t iterations = 0;  ///< of a batch
  double work = 0;
  std::int64_t wrong = 0;                        ///< over all ranks
  std::vector<std::vector<double>> batch_times;  ///< ns, by batch, then rank; only batches of all ranks
};

/// In the order measured. Measurements without a batch of all ranks are left out.
std::vector<MicroMeasurement> micro_measurements(const store::RunStore& store, const store::RunRecord& run);

}  // namespace ddbench::analyzer
