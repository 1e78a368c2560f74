#pragma once

#include <cstdint>

#include "core/program_phase.h"
#include "probes/recorder/recorder.h"

/// What a program that ddbench did not write records of itself. Nothing here throws, and nothing that fails
/// may be noticed by the program.
namespace ddbench::inject {

/// The calls that are distinguished. Collectives have the names that the reference engine uses.
enum class CallName : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kAllToAll,
  kBarrier,
  kScan,
  kNeighborAllGather,
  kNeighborAllToAll,
  kOneDnn,
  kBlas,
  kStep,
  kFileOpened,
  kCpuWaitMain,
  kCpuWaitCommunication,
  kHookCost,
  kDrainCost,
};
inline constexpr int kCallNameCount = 20;

/// A collective as it is recorded; `correlation` as collective_key().
struct Collective {
  CallName name;
  std::uint64_t bytes = 0;
  std::uint64_t correlation = 0;
};

/// Records the calling thread's stay in a library from construction to destruction, on the thread's own
/// lock-free track. Of nested calls only the outermost is recorded. Costs two clock reads and a push; the
/// first call of a process opens its spool, that of a thread allocates its ring. Does nothing in a process
/// that is no rank of a run (DDBENCH_SPOOL is not set) or whose spool cannot be written.
class Call {
 public:
  /// Compute in a maths library.
  explicit Call(CallName name) noexcept : Call(name, SpanKind::kCompute, 0, 0) {}
  /// An operator of a framework, by the name that it has there, which stays where it is.
  Call(const char* operator_name, SpanKind kind) noexcept;
  /// A collective; `correlation` as collective_key().
  Call(CallName name, std::uint64_t bytes, std::uint64_t correlation) noexcept
      : Call(name, SpanKind::kCommunication, bytes, correlation) {}
  explicit Call(const Collective& collective) noexcept
      : Call(collective.name, collective.bytes, collective.correlation) {}
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  Call(CallName name, SpanKind kind, std::uint64_t bytes, std::uint64_t correlation) noexcept;
  /// Whether this call is recorded: it is then to be given a name, and started.
  bool begins(SpanKind kind) noexcept;
  void start() noexcept;

  host::Recorder::Track* track_ = nullptr;  // null: not recorded
  std::uint64_t flight_ = 0;                // of note_flight_begin()
  std::int64_t entered_ns_ = 0;             // 0: this call does not time itself
  Span span_;
};

/// A collective that goes on when its call has returned: one thread makes it, any thread sees its end. A
/// value.
class PendingCall {
 public:
  explicit PendingCall(const Collective& collective) noexcept;
  /// Records it, from its making to now. Not inside of another call: that one is recorded.
  void end() const noexcept;

 private:
  Collective collective_;
  std::int64_t begin_ns_;
  bool nested_;
  std::uint64_t flight_ = 0;
};

/// A step ends, and the next begins, now. True where that is a step: the first call only begins one.
bool mark_step() noexcept;

/// The same for a step of these times (now_ns()), wherever the one before ended. False where nothing is recorded, or it begins at 0.
bool record_step(std::int64_t begin_ns, std::int64_t end_ns) noexcept;

/// The thread was in the phase from `begin_ns` (now_ns()) until now.
void record_phase(ProgramPhase phase, std::int64_t begin_ns, std::uint64_t samples, std::uint64_t id) noexcept;

/// What a mark costs the program before and after record_phase(): it counts with each of them.
void set_mark_cost(std::int64_t ns) noexcept;

/// The program opened a file to write it, just now: host time without a length. Does nothing in a process
/// that has recorded nothing yet: a shell that writes a file is no rank.
void note_file_opened() noexcept;

}  // namespace ddbench::inject
