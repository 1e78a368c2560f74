#pragma once

#include <type_traits>

#include "harness/launch/control/messages.h"

/// One list of fields for each message; writing and reading follow it, so that a new field is one line.
/// `field` is called with each name and value; the message is const for the writer.
namespace ddbench::launch {

template <typename M, typename T>
concept Is = std::is_same_v<std::remove_const_t<M>, T>;

template <typename Field>
void visit_clock(auto& clock, Field&& field) {
  field("clock_at_ns", clock.at_ns);
  field("clock_offset_ns", clock.offset_ns);
  field("clock_uncertainty_ns", clock.uncertainty_ns);
}

template <typename Field>
void visit(Is<Hello> auto& m, Field&& field) {
  field("protocol", m.protocol);
  field("rank", m.rank);
  field("pid", m.pid);
  field("host", m.host);
  field("boot_id", m.boot_id);
  field("local_rank", m.local_rank);
  field("world_size", m.world_size);
  field("cores", m.cores);
  field("address", m.address);
  field("version", m.version);
  field("commit", m.commit);
  field("node_name", m.node_name);
}

template <typename Field>
void visit(Is<Inventory> auto& m, Field&& field) {
  field("facts", m.facts);
}

template <typename Field>
void visit(Is<Counted> auto& m, Field&& field) {
  field("facts", m.facts);
  field("notes", m.notes);
}

template <typename Field>
void visit(Is<Ready> auto& m, Field&& field) {
  field("transport", m.transport);
  field("cores", m.cores);
  visit_clock(m.clock, field);
}

template <typename Field>
void visit(Is<Heartbeat> auto& m, Field&& field) {
  field("steps_completed", m.steps_completed);
  field("loss", m.loss);
  field("function", m.collective.function);
  field("sequence", m.collective.sequence);
  field("inside", m.collective.inside);
  field("for_ns", m.collective.for_ns);
  field("peak_memory_bytes", m.peak_memory_bytes);
  field("sigterm_pending", m.sigterm_pending);
  field("collectives_ns", m.collectives_ns);
  field("long_work", m.long_work);
  field("pieces", m.pieces);
}

template <typename Field>
void visit(Is<Holding> auto& m, Field&& field) {
  field("round", m.round);
  field("step", m.step);
}

template <typename Field>
void visit(Is<Flight> auto& m, Field&& field) {
  field("request", m.request);
  field("processes", m.processes);
  field("pid", m.pid);
  field("is_stopped", m.is_stopped);
  field("is_over", m.is_over);
  field("read_at_ns", m.read_at_ns);
  field("ring", m.ring);
}

template <typename Field>
void visit(Is<RankOwnTime> auto& m, Field&& field) {
  field("steps", m.steps);
  field("compute_ns", m.compute_ns);
  field("data_ns", m.data_ns);
  field("cpu_wait_ns", m.cpu_wait_ns);
}

template <typename Field>
void visit(Is<FlightRequest> auto& m, Field&& field) {
  field("request", m.request);
}

template <typename Field>
void visit(Is<Hold> auto& m, Field&& field) {
  field("round", m.round);
  field("lead_ns", m.lead_ns);
}

template <typename Field>
void visit(Is<LastStep> auto& m, Field&& field) {
  field("step", m.step);
  field("checkpoint", m.checkpoint);
}


/// Binary (key_value_bytes.h): no JSON object means one.
template <typename M>
concept IsBinary = Is<M, KvSet> || Is<M, KvValue> || Is<M, KvParts>;
template <typename Field>
void visit(IsBinary auto&, Field&&) {}

template <typename Field>
void visit(Is<KvGet> auto& m, Field&& field) {
  field("id", m.id);
  field("key", m.key);
}

template <typename Field>
void visit(Is<KvGather> auto& m, Field&& field) {
  field("id", m.id);
  field("prefix", m.prefix);
  field("count", m.count);
  field("index", m.index);
}

template <typename Field>
void visit(Is<Ping> auto& m, Field&& field) {
  field("id", m.id);
}

template <typename Field>
void visit(Is<ClockRead> auto& m, Field&& field) {
  visit_clock(m.clock, field);
}

template <typename Field>
void visit(Is<StepTimes> auto& m, Field&& field) {
  field("measured_ns", m.measured_ns);
  field("windows", m.windows);
}

template <typename Field>
void visit(Is<Pong> auto& m, Field&& field) {
  field("id", m.id);
  field("reference_ns", m.reference_ns);
}

template <typename Field>
void visit(Is<Result> auto& m, Field&& field) {
  field("loss_first", m.loss_first);
  field("loss_last", m.loss_last);
  field("parameter_hash", m.parameter_hash);
  field("dropped_spans", m.dropped_spans);
  field("peak_memory_bytes", m.peak_memory_bytes);
  field("waits", m.waits);
  field("wait_ns", m.wait_ns);
  field("shared_with", m.shared_with);
  field("steps_done", m.steps_done);
  field("reached_target", m.reached_target);
  visit_clock(m.clock, field);
}

template <typename Field>
void visit(Is<Failure> auto& m, Field&& field) {
  field("code", m.code);
  field("message", m.message);
  field("native_code", m.native_code);
  field("where", m.where);
  field("communication", m.communication);
  field("dropped_spans", m.dropped_spans);
  field("peak_memory_bytes", m.peak_memory_bytes);
}

template <typename Field>
void visit(Is<FileChunk> auto& m, Field&& field) {
  field("name", m.name);
  field("bytes", m.bytes);
}

template <typename Field>
void visit(Is<Assignment> auto& m, Field&& field) {
  field("run_case", m.run_case);
  field("rank", m.rank);
  field("local_rank", m.local_rank);
  field("node", m.node);
  field("world_size", m.world_size);
  field("address", m.address);
  field("core_slot", m.core_slot);
  field("spool", m.spool);
  field("reduce_spans", m.reduce_spans);
  field("checkpoint_directory", m.checkpoint_directory);
  field("resume_from", m.resume_from);
  field("run_id", m.run_id);
  field("communicator_id", m.communicator_id);
  field("follows_clock", m.follows_clock);
}

template <typename Field>
void visit(Is<Stop> auto& m, Field&& field) {
  field("reason", m.reason);
  field("exit_code", m.exit_code);
}

template <typename Field>
void visit(Is<Finish> auto& m, Field&& field) {
  field("exit_code", m.exit_code);
}

template <typename Field>
void visit(Is<Turn> auto& m, Field&& field) {
  field("number", m.number);
}

template <typename Field>
void visit(Is<TurnsEnd> auto& m, Field&& field) {
  field("exit_code", m.exit_code);
}

}  // namespace ddbench::launch
