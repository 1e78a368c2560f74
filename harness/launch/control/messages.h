#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/run_case/run_case.h"
#include "harness/collective/key_value_store.h"
#include "harness/launch/trust/protocol_version.h"
#include "harness/training/step/long_work.h"

/// The messages between launcher and ranks. They know nothing of how their bytes travel,
/// and of how the two know each other (FrameStream, handshake.h).
namespace ddbench::launch {

// From a rank to the launcher.

/// First message of a rank.
struct Hello {
  int protocol = kProtocolVersion;
  int rank = 0;
  std::int64_t pid = 0;  ///< as the host counts
  std::string host;
  std::string boot_id;  ///< of the rank's kernel: equal to the launcher's when they share a clock
  int local_rank = -1;  ///< what the rank was started as on its node; -1: the launcher knows
  int world_size = -1;  ///< likewise
  std::string cores;    ///< that the rank may run on: "0,1,2"
  std::string address;  ///< of the interface that leads to the launcher; empty on an inherited socket
  std::string version;  ///< of the rank's ddbench, build_version()
  std::string commit;   ///< likewise, build_commit()
  std::string node_name;  ///< of its machine as its scheduler calls it; empty: no scheduler says
};

/// What the machine is that the rank is on, elsewhere: from one rank a node, before it connects to its peers.
struct Inventory {
  std::map<std::string, std::string> facts;  ///< host::facts of its hardware
};

/// What that machine counted while the rank was on it (MachineCounts): from the same rank, before it says how
/// it ended.
struct Counted {
  std::map<std::string, std::string> facts;
  std::vector<std::string> notes;
};

/// The rank is connected to its peers; training begins.
struct Ready {
  std::string transport;  ///< Communicator::transport
  std::string cores;      ///< where the rank is pinned; empty when it is not
  ClockReading clock;
};

/// The collective that a rank is in or was in last.
struct CollectiveState {
  std::string function;  ///< empty: none yet
  std::uint64_t sequence = 0;
  bool inside = false;
  std::int64_t for_ns = 0;  ///< how long ago it was entered or left
};

/// About five times a second, also while the rank computes or waits.
struct Heartbeat {
  std::uint32_t steps_completed = 0;
  double loss = 0;
  CollectiveState collective;
  std::int64_t peak_memory_bytes = 0;
  bool sigterm_pending = false;  ///< SIGTERM came to the rank itself
  std::int64_t collectives_ns = 0;  ///< that it has spent in collectives up to the end of the last completed step
  ddp::LongWork long_work = ddp::LongWork::kNone;  ///< that it is at
  std::uint64_t pieces = 0;                        ///< of all long work so far: it goes on while this grows
};

/// ddp::OwnTime, once a second.
struct RankOwnTime {
  std::uint32_t steps = 0;
  std::int64_t compute_ns = 0;  ///< -1: not known
  std::int64_t data_ns = 0;
  std::int64_t cpu_wait_ns = 0;
};

struct KvSet {
  std::string key;
  collective::Bytes value;
};
/// Answered by KvValue with the same id once the key is set.
struct KvGet {
  std::uint64_t id = 0;
  std::string key;
};

/// Answered by KvParts with the same id once the keys `prefix`0 to `prefix`(count-1) are all set.
struct KvGather {
  static constexpr std::uint32_t kMostParts = 65536;
  std::uint64_t id = 0;
  std::string prefix;
  std::uint32_t count = 0;
  std::int32_t index = -1;  ///< -1: the whole values; else KeyValueStore::get_column
};

struct Ping {
  std::uint64_t id = 0;
};

/// A reading of the launcher's clock while the rank runs, every few seconds (Assignment::follows_clock).
struct ClockRead {
  ClockReading clock;
};

/// Measured steps that follow each other, of one rank.
struct StepWindow {
  std::uint32_t steps = 0;
  std::int64_t time_ns = 0;
  std::uint32_t pairs = 0;  ///< of steps with the probes on and off (ddp::is_in_pair)
  double log_ratio = 0;     ///< sum over the pairs of log(on / off)
};

/// Of rank 0 in a run that ends by its margin: what its measured steps took since the message before, with each
/// heartbeat.
struct StepTimes {
  static constexpr std::size_t kMostWindows = 256;
  std::int64_t measured_ns = 0;  ///< since the first measured step began; 0 before
  std::vector<StepWindow> windows;
};

/// The rank trained to the end and its spool is complete. It leaves on Finish.
struct Result {
  double loss_first = 0;
  double loss_last = 0;
  std::string parameter_hash;
  std::uint64_t dropped_spans = 0;
  std::int64_t peak_memory_bytes = 0;
  std::uint32_t waits = 0;    ///< how often it waited in a step for LastStep
  std::int64_t wait_ns = 0;  ///< and how long in all
  ClockReading clock;
  std::string shared_with;  ///< CoreClaim::shared_with
  std::uint32_t steps_done = 0;  ///< ddp::TrainResult, likewise; of a program 0
  bool reached_target = false;
};

/// The rank could not go on. Its spool holds what it recorded so far.
struct Failure {
  ErrorCode code = ErrorCode::kRunFailed;
  std::string message;
  int native_code = 0;
  std::string where;
  bool communication = false;  ///< a collective or the rendezvous failed: perhaps a peer's fault
  std::uint64_t dropped_spans = 0;
  std::int64_t peak_memory_bytes = 0;
};

/// More bytes of a file that the rank writes on its own machine, in the file's order: its spool, its log.
struct FileChunk {
  static constexpr std::size_t kMostBytes = std::size_t{32} << 10;
  std::string name;
  collective::Bytes bytes;       ///< kMostBytes at most; packed on the way
  std::size_t packed_bytes = 0;  ///< of a piece that came: what its bytes took on the way
};

/// Answer to Hold: the rank's horizon. It begins no later step before LastStep has come.
struct Holding {
  std::uint32_t round = 0;  ///< Hold::round
  std::uint32_t step = 0;
};

/// Answer to FlightRequest, one for each process of the rank that has a flight recorder: no more than FlightRing's bytes. Where there is
/// none, one without bytes.
struct Flight {
  static constexpr std::size_t kMostBytes = 4096;
  std::uint32_t request = 0;    ///< FlightRequest::request
  std::uint32_t processes = 0;  ///< of which this is one
  std::int64_t pid = 0;         ///< ProcessFlight
  bool is_stopped = false;
  bool is_over = false;  ///< ProcessFlight
  std::int64_t read_at_ns = 0;  ///< now_ns() of the rank
  collective::Bytes ring;
};

// From the launcher to a rank.

/// Answer to Hello: who the rank is and what it is to do.
struct Assignment {
  RunCase run_case;
  int rank = 0;
  int local_rank = 0;
  int node = 0;
  int world_size = 1;
  std::string address;        ///< of the interface to communicate over
  int core_slot = -1;         ///< which core to pin to, by its place among the ranks of its machine; -1: none
  std::string spool;          ///< empty: on the rank's own machine, in a directory that it makes and ships
  bool reduce_spans = false;  ///< the rank sends SampledSpool's
  std::string checkpoint_directory;  ///< ddp::CheckpointPlan
  std::string resume_from;
  std::string run_id;
  std::uint16_t communicator_id = 1;
  bool follows_clock = false;  ///< not the launcher's kernel: the rank sends ClockRead's
};

struct KvValue {
  std::uint64_t id = 0;
  collective::Bytes value;
};

struct KvParts {
  std::uint64_t id = 0;
  std::vector<collective::Bytes> parts;  ///< by key, to be sent; of a received message see parts_of()
  std::string error = {};                ///< not empty: why there are none
  /// encode_parts() of the parts: set in a received message, which is unpacked only by whom it is meant for, and where many ranks get
  /// the same.
  std::shared_ptr<const std::string> encoded = {};
};

struct Pong {
  std::uint64_t id = 0;
  std::int64_t reference_ns = 0;  ///< now_ns() of the launcher when it answered
};

/// Give up: a peer failed or the user asked for it.
struct Stop {
  std::string reason;
  std::int32_t exit_code = static_cast<std::int32_t>(ErrorCode::kRunFailed);  ///< the launcher's: ranks elsewhere end with it, too
};

/// The run is about to end: go on without word of which step is the last one to the end of the step that the rank
/// will be in `lead_ns` from now, as fast as it is, and answer with that step (Holding). What an earlier Hold or
/// LastStep said is void.
struct Hold {
  std::uint32_t round = 0;   ///< counts the launcher's Holds
  std::int64_t lead_ns = 0;  ///< 0: the step that the rank is in
};

/// No rank is further than this step: train to its end and deliver the result.
struct LastStep {
  std::uint32_t step = 0;
  bool checkpoint = false;  ///< write one of it, where the case writes some
};

/// Nothing goes on, or a person asks: what are your last collectives?
struct FlightRequest {
  std::uint32_t request = 0;
};

/// Every rank has delivered its result: leave.
struct Finish {
  std::int32_t exit_code = 0;  ///< as Stop's; not 0 where the run was preempted
};

// From rank 0 to the others, in a world that others have started (turns.h).

/// The next turn.
struct Turn {
  std::int32_t number = 0;  ///< from 0
};

/// There are no more turns: end as rank 0 does.
struct TurnsEnd {
  std::int32_t exit_code = 0;
};

using Message = std::variant<Hello, Ready, Heartbeat, KvSet, KvGet, Ping, ClockRead, StepTimes, Result, Failure, FileChunk, Holding,
                             Inventory, Counted, Flight, RankOwnTime, KvGather, Assignment, KvValue, KvParts, Pong, Stop, Hold, LastStep, FlightRequest, Finish, Turn, TurnsEnd>;

/// The payload of one frame: a JSON object whose "type" names the message. A FileChunk, which may be large
/// and comes often, is a zero byte, the length of the name in one byte, the name and the packed bytes. What goes into and out of
/// the rendezvous is binary, too (key_value_bytes.h).
std::string encode(const Message& message);

/// Inverse of encode. Throws Error on anything that encode could not have written, whatever the bytes are.
Message decode(std::string_view payload);

}  // namespace ddbench::launch
