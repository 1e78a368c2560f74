#include <fmt/format.h>

#include "core/clock.h"
#include "core/version/build_identity.h"
#include "harness/launch/machine/process_facts.h"
#include "harness/launch/supervisor/rank_machines.h"
#include "harness/launch/supervisor/supervisor.h"
#include "harness/launch/transfer/shipped_files.h"

namespace ddbench::launch {

using Clock = std::chrono::steady_clock;

namespace {

/// Which field says that the rank's ddbench is another than this one; empty when none does. A commit that one of the two does not
/// know says nothing.
std::string difference_of_build(const Hello& hello) {
  const auto differs = [](const char* field, std::string_view theirs, std::string_view own) {
    return fmt::format("its ddbench has {} {}, the launcher's {}", field, theirs, own);
  };
  if (hello.version != build_version()) return differs("version", hello.version, build_version());
  const bool both_known = hello.commit != "unknown" && build_commit() != "unknown";
  return both_known && hello.commit != build_commit() ? differs("commit", hello.commit, build_commit()) : std::string();
}

}  // namespace

void Supervisor::take_arrivals() {
  for (Arrival& arrival : processes_.take_arrivals()) {
    SupervisedRank& rank = ranks_[static_cast<std::size_t>(arrival.hello.rank)];
    rank.channel = std::move(arrival.channel);
    on(rank, arrival.hello);
  }
}

void Supervisor::read_rank(SupervisedRank& rank) {
  if (!rank.connected()) return;
  std::vector<Message> messages;
  try {
    messages = rank.channel->read_available();
  } catch (const Error& error) {
    fail(rank, ": " + error.message(), true);
  }
  // Outside of the try: an observer's Error is not the rank's.
  for (const Message& message : messages) {
    if (rank.channel->overrun()) return;  // the rest would be answered in vain
    rank.last_heard = Clock::now();
    std::visit([&](const auto& alternative) { on(rank, alternative); }, message);
  }
  if (rank.channel->closed()) on_lost(rank);
}

/// The end of its connection is all that is seen of the end of a rank that is elsewhere. Everything it sent
/// before has been read.
void Supervisor::on_lost(SupervisedRank& rank) {
  if (!processes_.remote() || !rank.alive) return;
  const char* const why =
      rank.channel->overrun() ? "it does not read what it is sent" : "its connection has ended";
  on_end(rank, std::string("was lost: ") + why, true);
}

void Supervisor::on(SupervisedRank& rank, const Hello& hello) {
  if (rank.phase != SupervisedRank::Phase::kStarted) {
    return fail(rank, ": it introduced itself a second time", true);
  }
  if (hello.protocol != kProtocolVersion || hello.rank != rank.record.rank) {
    return fail(
        rank,
        fmt::format(": {} speaks protocol {} as rank {}; expected protocol {}: it is of another version",
                    options_.executable.string(), hello.protocol, hello.rank, kProtocolVersion),
        true);
  }
  if (const std::string difference = difference_of_build(hello); !difference.empty())
    return fail(rank, fmt::format(": on {}, {}: install the same ddbench on every node", hello.host, difference), true);
  if (hello.local_rank >= 0 && hello.local_rank != rank.record.local_rank) {
    return fail(rank,
                fmt::format(": it was started as local rank {} of {}, but ranks must be placed node by node, "
                            "{} on each: do the launcher's arguments change that?",
                            hello.local_rank, hello.host, run_case_.gpus_per_node),
                true);
  }
  const SteadyTime now = Clock::now();
  rank.phase = SupervisedRank::Phase::kJoined;
  rank.last_heard = rank.last_progress = now;
  rank.record.host = hello.host;
  if (rank.record.pid == 0) rank.record.pid = hello.pid;
  rank.record.clock.shared_clock = !boot_id_.empty() && hello.boot_id == boot_id_;
  rank.hello = hello;
  // Which ranks share a machine is known when all are there; on this one it is known before.
  if (!processes_.remote()) return assign(rank);
  if (!ranks_.all_reached(SupervisedRank::Phase::kJoined)) return;
  for (SupervisedRank& each : ranks_) assign(each);
}

void Supervisor::assign(SupervisedRank& rank) {
  Assignment assignment;
  assignment.run_case = run_case_;
  assignment.rank = rank.record.rank;
  assignment.local_rank = rank.record.local_rank;
  assignment.node = rank.record.node;
  assignment.world_size = static_cast<int>(ranks_.size());
  assignment.address = processes_.address_of(rank.hello, rank.record.node);
  assignment.core_slot = processes_.remote() ? core_slot_on_machine(ranks_, rank) : rank.record.rank;
  if (!processes_.remote()) {
    assignment.spool = (options_.run_directory / fmt::format("rank{}.spool", rank.record.rank)).string();
  }
  assignment.reduce_spans = options_.reduce_spans;
  assignment.checkpoint_directory = options_.checkpoints.directory.string();
  assignment.resume_from = options_.checkpoints.resume_from.string();
  assignment.run_id = options_.run_id;
  assignment.follows_clock = !rank.record.clock.shared_clock;
  rank.post(assignment);
}

void Supervisor::on(SupervisedRank& rank, const Inventory& inventory) {
  rank.inventory = inventory;
}

void Supervisor::on(SupervisedRank& rank, const Counted& counted) {
  rank.counted = MachineCounts{rank.record.node, rank.record.host, counted.facts, counted.notes};
}

void Supervisor::on(SupervisedRank& rank, const Ready& ready) {
  rank.phase = SupervisedRank::Phase::kTraining;
  rank.record.cores = ready.cores;
  rank.record.clock.start = rank.record.clock.end = ready.clock;
  if (rank.record.rank == 0) outcome_.transport = ready.transport;
  if (phase_ != Phase::kStarting || !ranks_.all_reached(SupervisedRank::Phase::kTraining)) return;
  phase_ = Phase::kTraining;
  for (SupervisedRank& each : ranks_) each.last_progress = Clock::now();
}

void Supervisor::on(SupervisedRank& rank, const Heartbeat& heartbeat) {
  rank_was_preempted_ |= heartbeat.sigterm_pending;
  if (rank.take(heartbeat, Clock::now())) {
    observer_.on_progress({rank.record.rank, heartbeat.steps_completed, heartbeat.loss, heartbeat.collectives_ns});
  }
}

void Supervisor::on(SupervisedRank& rank, const KvSet& entry) {
  try {
    rendezvous_.set(rank.record.rank, entry);
  } catch (const Error& error) {
    fail(rank, ": " + error.message(), true);
  }
}

void Supervisor::on(SupervisedRank& rank, const KvGet& request) {
  try {
    rendezvous_.get(rank.record.rank, request);
  } catch (const Error& error) {
    fail(rank, ": " + error.message(), true);
  }
}

void Supervisor::on(SupervisedRank& rank, const KvGather& request) {
  try {
    rendezvous_.gather(rank.record.rank, request);
  } catch (const Error& error) {
    fail(rank, ": " + error.message(), true);
  }
}

void Supervisor::on(SupervisedRank& rank, const Ping& ping) {
  rank.post(Pong{ping.id, now_ns()});
}

/// Of those before Ready the start is one.
void Supervisor::on(SupervisedRank& rank, const ClockRead& read) {
  constexpr std::size_t kMostReadings = 1 << 16;  // ranks send 4,000 in a week
  ClockMap& clock = rank.record.clock;
  const ClockReading& latest = clock.between.empty() ? clock.start : clock.between.back();
  const bool in_order = rank.phase == SupervisedRank::Phase::kTraining && read.clock.at_ns > latest.at_ns;
  if (!in_order || clock.between.size() == kMostReadings) return;
  clock.between.push_back(read.clock);
  clock.end = read.clock;  // stands for a last reading that never comes
}

void Supervisor::on(SupervisedRank& rank, const Result& result) {
  rank.phase = SupervisedRank::Phase::kDelivered;
  rank.record.clock.end = result.clock;
  rank.record.dropped_spans = result.dropped_spans;
  rank.record.peak_memory_bytes = result.peak_memory_bytes;
  rank.record.parameter_hash = result.parameter_hash;
  rank.record.outcome = "ok";
  if (!result.shared_with.empty()) outcome_.shared_cores_with.insert(result.shared_with);
  rank.waits = result.waits;
  rank.wait_ns = result.wait_ns;
  rank.heartbeat.steps_completed = result.steps_done;
  if (result.reached_target) end_of_steps_.end_by_target();
  observer_.on_progress({rank.record.rank, rank.heartbeat.steps_completed, result.loss_last});
  if (phase_ == Phase::kStopping || !ranks_.all_reached(SupervisedRank::Phase::kDelivered)) return;
  phase_ = Phase::kFinishing;
  grant(options_.grace);
  ranks_.post(Finish{ends_preempted() ? static_cast<std::int32_t>(ErrorCode::kInterrupted) : 0});
}

void Supervisor::on(SupervisedRank& rank, const Failure& failure) {
  rank.said_why = true;
  rank.record.dropped_spans = failure.dropped_spans;
  rank.record.peak_memory_bytes = failure.peak_memory_bytes;
  fail(rank, fmt::format(": {}{}", failure.message, how_far(rank, " (", ")")), !failure.communication);
}

void Supervisor::on(SupervisedRank& rank, const FileChunk& chunk) {
  try {
    keep_chunk(options_.run_directory, rank.record.rank, chunk);
    if (chunk.name.ends_with(".spool")) span_bytes_ += chunk.packed_bytes;
  } catch (const Error& error) {
    // Its own disk, which no rank is to be blamed for.
    if (error.code() == ErrorCode::kEnvironment)
      return stop(store::RunState::kFailed, fmt::format("on the launcher's machine, {}: {}", host_name(), error.message()));
    fail(rank, ": " + error.message(), true);
  }
}

void Supervisor::on(SupervisedRank& rank, const Flight& flight) {
  hang_watch_.take(rank.record.rank, flight);
}

void Supervisor::on(SupervisedRank& rank, const StepTimes& times) {
  if (!end_of_steps_.by_margin() || rank.record.rank != 0)
    return fail(rank, ": it reported step times that nobody asked for", true);
  end_of_steps_.add(times);
  if (phase_ != Phase::kTraining || preemption_deadline_) return;
  if (const auto hold = end_of_steps_.decide(times)) ranks_.post(*hold);
}

void Supervisor::on(SupervisedRank& rank, const Holding& holding) {
  if (const auto last = end_of_steps_.add(rank.record.rank, holding)) ranks_.post(*last);
}

void Supervisor::on(SupervisedRank& rank, const RankOwnTime& time) {
  observer_.on_own_time(rank.record.rank, time);
}

template <typename Unexpected>
void Supervisor::on(SupervisedRank& rank, const Unexpected&) {
  fail(rank, ": it sent a message that only a launcher may send", true);
}
template void Supervisor::on(SupervisedRank&, const Assignment&);
template void Supervisor::on(SupervisedRank&, const KvValue&);
template void Supervisor::on(SupervisedRank&, const KvParts&);
template void Supervisor::on(SupervisedRank&, const Pong&);
template void Supervisor::on(SupervisedRank&, const Stop&);
template void Supervisor::on(SupervisedRank&, const Hold&);
template void Supervisor::on(SupervisedRank&, const LastStep&);
template void Supervisor::on(SupervisedRank&, const FlightRequest&);
template void Supervisor::on(SupervisedRank&, const Finish&);

}  // namespace ddbench::launch
