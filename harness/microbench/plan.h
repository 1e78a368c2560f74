#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/collectives/micro_table.h"
#include "core/run_case/run_case.h"

namespace ddbench::micro {

/// Microbenchmark::options of a run of `ddbench micro`, with their defaults.
struct MicroOptions {
  /// "operations": names of MicroOperation with commas between; all of them.
  std::vector<analyzer::MicroOperation> operations;
  std::int64_t min_bytes = 8;         ///< "min_bytes": as nccl-tests count them, at least 4
  std::int64_t max_bytes = 64 << 20;  ///< "max_bytes": 64 MiB; at most 1 GiB
  double factor = 2;                  ///< "factor": from a size to the next, above 1
  double seconds = 0.1;               ///< "seconds": that one measurement is given; large sizes take longer
};

/// Throws Error{kBadInput} naming the option, its value and the allowed values.
MicroOptions micro_options(const RunCase& run_case);

/// "1M", "64K", "1G" (powers of 1024, as nccl-tests read them) or a plain number of bytes. Throws
/// Error{kBadInput} naming `option`.
std::int64_t parse_bytes(const std::string& text, const std::string& option);

/// What all ranks measure together, in lock step.
struct Measurement {
  analyzer::MicroOperation operation = analyzer::MicroOperation::kAllReduce;
  /// float32 elements: of the buffer (all_reduce, broadcast, copy), a rank's chunk of it (all_gather,
  /// reduce_scatter, all_to_all), or a row of the square matrices (gemm).
  std::int64_t count = 0;
  bool in_place = false;
};

/// Bytes of a measurement on `ranks` ranks, as nccl-tests count them.
std::int64_t bytes_of(const Measurement& measurement, int ranks);

inline constexpr std::int64_t kLargestGemmRows = 1024;
inline constexpr std::int64_t kElementBytes = 4;  ///< all that is measured is float32

/// The size of the send buffer for the largest measurement with these options; the receive buffer has the
/// same size.
std::int64_t buffer_bytes(const MicroOptions& options);

/// Ceilings first, then every operation by size, out of place and in place. Sizes are rounded down to whole
/// chunks; those too small for one element a rank are left out. One rank has ceilings only. Throws
/// Error{kBadInput} as micro_options, and when nothing is left.
std::vector<Measurement> plan_measurements(const RunCase& run_case);

}  // namespace ddbench::micro
