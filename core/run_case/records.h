#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/facts/facts.h"
#include "core/provenance.h"
#include "core/run_case/run_case.h"

namespace ddbench::store {

/// "20261121T001905-3f9a1c2b": UTC start and 32 random bits. Sorts by time, unique across clusters.
using RunId = std::string;
RunId new_run_id();

enum class RunState {
  kRunning,
  kDone,
  kFailed,
  kInterrupted,
  kPreempted,  ///< ended by a scheduler (SIGTERM) before its work was done
};
/// Whether it was ended from outside, by a person or a scheduler.
constexpr bool was_stopped(RunState state) noexcept {
  return state == RunState::kInterrupted || state == RunState::kPreempted;
}
std::string_view to_string(
    RunState state) noexcept;                    ///< "running", "done", "failed", "interrupted", "preempted"
RunState run_state_from(std::string_view text);  ///< inverse; throws Error{kBadInput} on another word

/// What a run really ran on; stored with it. Only runs of equal fingerprints are comparable without a
/// warning.
struct Environment {
  std::string fingerprint;  ///< hash of the hardware and software fields that decide speed
  std::string network;  ///< "loopback", "veth", "veth@1gbit", "ethernet", "infiniband", "roce": as proved,
                        ///< not as asked
  Facts facts;          ///< of core/facts/fact_table.h, and those of other versions of ddbench
};

/// One row of the table `run`.
struct RunRecord {
  RunId id;
  RunCase run_case;
  RunState state = RunState::kRunning;
  std::string reason;  ///< why it failed, was interrupted or preempted: rank, node, what
  bool valid = true;   ///< false: finished, but its figures must not be used
  std::string invalid_reason;
  std::string sweep_id;
  RunId baseline_id;  ///< the run that its efficiency is stated against; empty when there is none
  int repetition = 0;
  ProvenanceSet provenance;
  Environment environment;
  std::int64_t started_wall_ns = 0;
  std::int64_t finished_wall_ns = 0;  ///< 0 while running
  bool is_baseline = false;           ///< run only to be the baseline of another
  /// The process that drives the run, its start (/proc/<pid>/stat, field 22: distinguishes a reused pid from
  /// the owner), its boot and its host: by these, runs left behind are found.
  std::int64_t owner_pid = 0;
  std::int64_t owner_start_ticks = 0;
  std::string owner_boot_id;
  std::string owner_host;
};

/// A run whose row cannot be read back, and why.
struct UnreadableRun {
  RunId id;
  std::string reason;
};

/// Fills the owner fields with the calling process.
void set_owner_to_this_process(RunRecord& run);

/// True when the run is `running` and its owner is known to be gone: on this host, from an earlier boot, or
/// with a process that has ended; anywhere, of an earlier start of the scheduler's job that this process is part of. Other runs
/// of other hosts, or without an owner, are left alone.
bool is_abandoned(const RunRecord& run);

/// True when a process of this very machine drives, or drove, the run: whether it lives is known without signs.
bool is_of_this_host(const RunRecord& run);

/// How long the owner of a run may give no sign of life (owner.heartbeat_wall_ns, every 10 s) before the run may be taken over.
/// Longer than a writer waits for the readers of a store.
inline constexpr std::int64_t kStaleAfter_ns = 900'000'000'000;

/// Why no process drives `run` any more, though it is stored as running; empty if one may. In addition to
/// is_abandoned, the owner may have given no sign for kStaleAfter_ns by the clock of this machine: as that of the
/// owner may differ, such a run counts as gone only if its sign was watched for a while and did not change.
std::string why_gone(const RunRecord& run, std::int64_t now_wall_ns);

/// "4 s ago", "not known": the last sign of life of a run that is running.
std::string describe_last_sign(const RunRecord& run, std::int64_t now_wall_ns);

/// One row of the table `rank`.
struct RankRecord {
  int rank = 0;
  int local_rank = 0;
  int node = 0;
  std::string host;
  std::int64_t pid = 0;
  std::string cores;  ///< "0" or "0,1": where it was pinned; empty when it was not
  ClockMap clock;
  std::uint64_t dropped_spans = 0;
  std::int64_t peak_memory_bytes = 0;
  std::string parameter_hash;  ///< after the last step; replicas that agree have equal hashes
  std::string outcome;         ///< "ok", "killed by signal 9", ...
};

/// The parts of a step, in their order of priority (DESIGN: the step partition).
enum class StepPart : std::uint8_t {
  kForward,
  kBackward,
  kOptimizer,
  kOtherCompute,
  kCpuWait,  ///< a thread that the step needs was ready to run and had no core (run-queue delay)
  kExposedTransfer,
  kExposedPeerWait,
  kCopy,
  kDataWait,
  kHost,
  kIdle,
};
inline constexpr int kStepPartCount = 11;
std::string_view to_string(StepPart part) noexcept;  ///< "forward", ..., "cpu_wait", "exposed_transfer", ...

/// Nanoseconds of each part. They sum to the step time.
struct StepPartition {
  std::array<std::int64_t, kStepPartCount> ns{};

  std::int64_t& operator[](StepPart part) { return ns[static_cast<std::size_t>(part)]; }
  std::int64_t operator[](StepPart part) const { return ns[static_cast<std::size_t>(part)]; }
  std::int64_t compute_ns() const { return ns[0] + ns[1] + ns[2] + ns[3]; }
  std::int64_t exposed_communication_ns() const {
    return (*this)[StepPart::kExposedTransfer] + (*this)[StepPart::kExposedPeerWait];
  }
  std::int64_t total_ns() const {
    std::int64_t sum = 0;
    for (const std::int64_t part : ns) sum += part;
    return sum;
  }
};

/// One row of the table `step`: one step of one rank.
struct StepRecord {
  int rank = 0;
  std::uint32_t step = 0;
  std::int64_t begin_ns = 0;  ///< on the rank's own clock
  std::int64_t duration_ns = 0;
  bool probes_on = true;                      ///< false: a probe-off window; only duration and loss are known
  StepPartition partition;                    ///< sums to duration_ns when probes_on
  std::int64_t communication_ns = 0;          ///< union of communication
  std::int64_t overlap_ns = 0;                ///< of communication with compute
  std::int64_t peer_wait_ns = 0;              ///< of all collectives, exposed or not
  std::int64_t peer_wait_uncertainty_ns = 0;  ///< of the clocks, in all collectives of the step
  double loss = std::numeric_limits<double>::quiet_NaN();
};

/// The ranks that did collectives together.
struct CommunicatorRecord {
  int ranks = 0;             ///< how many they are; 0: not known
  std::string members = {};  ///< ranks of the run: "0-1", "0,2", "0-6 by 2"; empty: all, or not known (ranks 0)
  int place = 0;             ///< among communicators of the same members, in the order of their first use
  friend auto operator<=>(const CommunicatorRecord&, const CommunicatorRecord&) = default;
};

/// One row of the table `collective`: a function, bucket and communicator of a run, over its measured steps and all ranks.
struct CollectiveRecord {
  std::string function;            ///< "all_reduce", "broadcast", ...
  int bucket = -1;                 ///< -1: not a gradient bucket
  std::uint64_t bytes = 0;         ///< as nccl-tests count them
  std::uint64_t count = 0;         ///< collectives (joined over ranks: 16 ranks make one)
  std::int64_t transfer_ns = 0;    ///< median over collectives of: last end - last arrival
  std::int64_t duration_ns = 0;    ///< median over collectives and ranks of: end - own arrival
  std::int64_t peer_wait_ns = 0;   ///< median over collectives and ranks of: last arrival - own arrival
  bool peer_wait_resolved = true;  ///< false: below the uncertainty of the clocks
  /// How the library performed it, as reported: "RING LL128, 8 channels, socket"; several are joined by "; ".
  std::string nccl_algorithm = {};
  std::int64_t transfer_uncertainty_ns = 0;  ///< of the clocks; the same medians
  std::int64_t peer_wait_uncertainty_ns = 0;
  CommunicatorRecord communicator = {};
};

/// Whether its bytes are known: 0 where what recorded a collective does not say, but of a barrier and a negotiation.
inline bool has_known_size(const CollectiveRecord& collective) {
  return collective.bytes > 0 || collective.function == "barrier" || collective.function == "negotiate";
}

/// One row of the table `kernel`: an operator or kernel name of a run, over all ranks and its measured steps
/// whose spans were all kept.
struct KernelRecord {
  std::string name;
  std::string kind;  ///< to_string(SpanKind)
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
};

/// All rows of one run but its spans and per-step values.
struct RunRows {
  std::vector<RankRecord> ranks;  ///< ordered by rank
  std::vector<StepRecord> steps;  ///< ordered by step, rank
  std::vector<CollectiveRecord> collectives;
  std::vector<KernelRecord> kernels;
};

/// One version of a named baseline: the runs that a comparison against this name stands on.
struct NamedBaseline {
  std::string name;
  int version = 1;
  std::int64_t created_wall_ns = 0;
  std::string reference;    ///< what it was set to, as given
  std::vector<RunId> runs;  ///< may name runs that were deleted since
};

/// Which runs. Empty fields match all.
struct Query {
  std::string sweep_id = {};
  std::string name = {};
  std::optional<RunState> state = {};
  std::string case_key = {};     ///< case_key(RunCase)
  std::string fingerprint = {};  ///< Environment::fingerprint
  int limit = 0;                 ///< 0: no limit; newest first
};

}  // namespace ddbench::store
