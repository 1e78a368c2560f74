#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// Parts of a rank's own work in a step, before it enters a collective: where a rank can be slower than the
/// others.
enum class OwnPart : std::uint8_t { kCompute, kCpuWait, kDataWait, kHost };
inline constexpr std::size_t kOwnParts = 4;

/// Nanoseconds of each part. Compute is without the run-queue delay in it; host has copies and idle time.
struct OwnWork {
  std::array<double, kOwnParts> ns{};
  double& operator[](OwnPart part) noexcept { return ns[static_cast<std::size_t>(part)]; }
  double operator[](OwnPart part) const noexcept { return ns[static_cast<std::size_t>(part)]; }
  double total() const noexcept { return ns[0] + ns[1] + ns[2] + ns[3]; }
};

struct WorkRank {
  int rank = 0;
  int node = 0;
  std::string host;
};

/// A measured step that all ranks recorded with the probes off: only how long it took.
struct UnprobedStep {
  std::uint32_t step = 0;
  double begin_ns = 0;     ///< as WorkTable::begin_ns
  double duration_ns = 0;  ///< mean over ranks
};

/// The measured steps that all ranks recorded with the probes on, rank by rank: `work[step * ranks + rank]`.
struct WorkTable {
  std::vector<WorkRank> ranks;
  std::vector<std::uint32_t> steps;  ///< their numbers, ascending
  std::vector<OwnWork> work;
  std::vector<double> step_ns;       ///< of each step: mean duration over ranks
  std::vector<double> starved_ns;    ///< as `work`: CPU wait that came out of exposed communication; empty: not known
  std::vector<double> transfer_ns;   ///< as `work`: union of communication without its peer wait, exposed or not
  std::vector<double> exposed_ns;    ///< of each step: communication that compute did not hide, mean over ranks
  std::vector<double> begin_ns;      ///< of each step: when its first rank began, since the first whole step
  std::vector<UnprobedStep> unprobed;
  bool shares_cores = false;         ///< ranks outnumber the cores
  bool delay_known = false;          ///< run-queue delay was measured, so compute does not include it

  std::size_t rank_count() const noexcept { return ranks.size(); }
  std::size_t step_count() const noexcept { return steps.size(); }
  const OwnWork& at(std::size_t step, std::size_t rank) const { return work[step * ranks.size() + rank]; }
  double own(std::size_t step, std::size_t rank) const { return at(step, rank).total(); }
};

/// Run-queue delay of a rank's threads by step (core/cpu_wait.h); empty where it was not measured.
struct RunQueueDelay {
  std::map<std::uint32_t, double> main_ns;
  std::map<std::uint32_t, double> communication_ns;
};

/// The rank's own work in a recorded step. The delay that book_cpu_wait left in compute is moved to the CPU
/// wait; CPU wait taken from exposed communication is not own work of any rank.
OwnWork own_work(const store::StepRecord& step, double main_wait_ns, double communication_wait_ns);

/// `records` are ordered by step and rank; `delays` are by place in `ranks`, or empty. Steps before `first_step` are left out.
WorkTable work_table(std::span<const store::StepRecord> records, std::span<const store::RankRecord> ranks,
                     std::span<const RunQueueDelay> delays, std::uint32_t first_step);

/// The same table with starved_ns as a part of each rank's own CPU wait: a rank without a core inside of a collective does not move the
/// bytes for which the others wait.
WorkTable with_starvation(WorkTable table);

/// The same of a stored run.
WorkTable work_table(const store::RunStore& store, const store::RunRecord& run);

}  // namespace ddbench::analyzer
