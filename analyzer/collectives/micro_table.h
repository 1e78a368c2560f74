#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/collectives/alpha_beta.h"
#include "analyzer/store/rows/run_store.h"
#include "core/run_case/program_case.h"

namespace ddbench::analyzer {

/// RunCase::workload of the runs of `ddbench micro`.

/// Stored as a number: append, never renumber.
enum class MicroOperation : std::uint8_t {
  kAllReduce = 0,
  kAllGather = 1,
  kReduceScatter = 2,
  kBroadcast = 3,
  kAllToAll = 4,
  kGemm = 5,  ///< of the device's operators, on all ranks at once
  kCopy = 6,  ///< within the device's memory, on all ranks at once
};
inline constexpr int kMicroOperationCount = 7;
std::string_view to_string(MicroOperation operation) noexcept;  ///< "all_reduce", ..., "gemm", "copy"
/// Inverse; throws Error{kBadInput} that names those there are.
MicroOperation micro_operation_from(std::string_view text);
constexpr bool is_collective(MicroOperation operation) noexcept {
  return operation <= MicroOperation::kAllToAll;
}

/// The values that each rank stores for a measurement (RunStore::step_values). A step is one batch of
/// iterations; steps count up over the run. The time is stored for every step, the others for the first step
/// of each measurement.
inline constexpr const char* kMicroTimeValue = "micro.time_ns";  ///< mean over the batch's iterations
inline constexpr const char* kMicroOperationValue = "micro.operation";
inline constexpr const char* kMicroBytesValue = "micro.bytes";  ///< of a collective, as nccl-tests count
inline constexpr const char* kMicroInPlaceValue = "micro.in_place";
inline constexpr const char* kMicroIterationsValue = "micro.iterations";  ///< of a batch
inline constexpr const char* kMicroWorkValue =
    "micro.work";  ///< FLOP of a GEMM; bytes read and written by a copy
/// Number of wrong elements in this rank's result.
inline constexpr const char* kMicroWrongValue = "micro.wrong";

/// One measurement: the median over batches of the mean over ranks. (nccl-tests print the mean over ranks of
/// one batch.)
struct MicroTiming {
  double time_ns = 0;
  std::vector<double> batches_ns;  ///< means over ranks
  std::int64_t iterations = 0;     ///< of all batches
  double algbw_gb_per_s = 0;
  double busbw_gb_per_s = 0;
  std::int64_t wrong = 0;  ///< over all ranks
};

/// A collective of one size. `bytes` and `count` (float32 elements) as nccl-tests define them.
struct MicroRow {
  MicroOperation operation = MicroOperation::kAllReduce;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  std::string redop;  ///< "sum" or "none"
  int root = -1;      ///< -1: no root
  std::optional<MicroTiming> out_of_place;
  std::optional<MicroTiming> in_place;

  /// In place where it was measured so, as DDP does it.
  const MicroTiming& usual() const { return in_place ? *in_place : *out_of_place; }
};

/// The measured peak of the device while all ranks use it.
struct MicroCeiling {
  MicroOperation operation = MicroOperation::kGemm;
  double per_second = 0;          ///< of a rank, mean: FLOP/s of a GEMM, bytes/s of a copy
  double slowest_per_second = 0;  ///< of the slowest rank
};

struct MicroTable {
  store::RunRecord run;
  int ranks = 0;
  std::vector<MicroRow> rows;  ///< by operation, then size
  std::vector<MicroCeiling> ceilings;
  std::vector<AlphaBetaFit> fits;  ///< of MicroRow::usual(), one a function; `algorithm` is its name
  std::int64_t wrong = 0;          ///< over all rows
  std::vector<std::string> notes;
};

/// Uses the measurements that all ranks stored, so that a run that was cut short has a table too. Throws
/// Error{kBadInput} when the run is not one of `ddbench micro`, or stored no measurement.
MicroTable micro_table(const store::RunStore& store, const store::RunRecord& run);

}  // namespace ddbench::analyzer
