#include "analyzer/import/trace/import_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/finalize/finalize.h"
#include "analyzer/import/trace/align_clocks.h"
#include "analyzer/import/trace/job.h"
#include "analyzer/import/trace/placement.h"
#include "analyzer/import/trace/trace_notes.h"
#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "core/run_case/scheduler_job.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

/// "resnet50_rank0.pt.trace.json.gz" -> "resnet50".
std::string name_of(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view ending : {".gz", ".json", ".trace", ".pt"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  if (const std::size_t rank = name.rfind("rank"); rank != std::string::npos) name.resize(rank);
  while (!name.empty() && (name.back() == '_' || name.back() == '-' || name.back() == '.')) name.pop_back();
  return name.empty() ? "trace" : name;
}

std::string identity_of(const TraceJob& job, const TraceOrigin& origin) {
  std::uint64_t hash = 0;
  for (const RankTrace& trace : job.traces) hash = hash * 0x100'0000'01b3ULL + trace.hash;
  return fmt::format("{}-{:016x}", origin.id, hash);
}

/// If ranks are missing, the arrival of the last rank at a collective is unknown for a group of unknown size.
void forget_groups_of_unknown_size(TraceJob& job) {
  if (static_cast<int>(job.traces.size()) == job.world_size) return;
  std::size_t forgotten = 0;
  for (RankTrace& trace : job.traces) {
    for (const TraceCollective& collective : trace.collectives) {
      Span& span = trace.spans.spans[collective.span];
      if (span.correlation == 0 || collective.group_size > 0) continue;
      span.correlation = 0;
      span.lane = Lane::kCommunication;
      ++forgotten;
    }
  }
  if (forgotten > 0)
    job.notes.emplace_back("the traces do not say how many ranks their process groups have: their collectives are not joined");
}

store::RunRecord record_of(const TraceJob& job, const TraceOptions& options, const TraceOrigin& origin,
                           const Placement& placement) {
  store::RunRecord run;
  run.id = store::new_run_id();
  set_fact(run.environment.facts, fact_key<"owner.user">, current_user());
  set_program(run.run_case, {options.name.empty() ? name_of(job.traces.front().file) : options.name});
  run.run_case.gpus_per_node = placement.per_node;
  run.run_case.nodes = job.world_size / run.run_case.gpus_per_node;
  if (!placement.is_known) set_unplaced(run.run_case, job.world_size);
  run.run_case.batch_per_gpu = options.batch_per_gpu;
  run.run_case.warmup = options.warmup;
  validate(run.run_case);
  run.provenance = ProvenanceSet{Provenance::kImported};
  run.sweep_id = identity_of(job, origin);
  run.started_wall_ns = run.finished_wall_ns = wall_ns();
  Facts& facts = run.environment.facts;
  set_fact(facts, fact_key<"import.file">, job.traces.front().file.string());
  const TraceInfo& info = job.traces.front().info;
  if (!info.device_model.empty()) set_fact(facts, fact_key_of<"gpu.*.model">(0), info.device_model);
  if (info.devices > 0) set_fact(facts, fact_key<"gpu.count">, info.devices);
  return run;
}

std::vector<store::RankRecord> rank_records(const TraceJob& job, const std::vector<ClockMap>& clocks,
                                            const Placement& placement) {
  std::map<int, int> on_node;
  std::vector<store::RankRecord> records;
  for (std::size_t i = 0; i < job.traces.size(); ++i) {
    store::RankRecord& record = records.emplace_back();
    record.rank = job.ranks[i];
    record.node = placement.node[i];
    const bool are_all_here = static_cast<int>(job.traces.size()) == job.world_size;
    record.local_rank = are_all_here ? on_node[record.node]++ : job.ranks[i] % placement.per_node;
    record.host = job.traces[i].info.host.empty() ? "imported" : job.traces[i].info.host;
    record.clock = clocks[i];
    record.outcome = "ok";
  }
  return records;
}

/// What begins between two steps and reaches into the second is a part of that one: a GPU works on when the host has ended
/// the range that marks a step, and ranges may lie apart.
void take_in_what_reaches_into_steps(analyzer::ProgramRank& rank) {
  std::vector<Span> steps;
  for (const Span& span : rank.spans) {
    if (span.kind == SpanKind::kStep && span.step != kNoStep) steps.push_back(span);
  }
  std::sort(steps.begin(), steps.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  for (Span& span : rank.spans) {
    if (span.step != kNoStep || span.kind == SpanKind::kStep) continue;
    const auto next = std::upper_bound(steps.begin(), steps.end(), span.begin_ns,
                                       [](std::int64_t at, const Span& step) { return at < step.begin_ns; });
    if (next != steps.end() && next->begin_ns < span.end_ns) span.step = next->step;
  }
}

analyzer::ProgramSteps assign_steps(TraceJob& job, int warmup) {
  std::vector<analyzer::ProgramRank> ranks;
  for (RankTrace& trace : job.traces) {
    for (Span& step : trace.steps) step.bytes = 0;
    trace.spans.spans.insert(trace.spans.spans.end(), trace.steps.begin(), trace.steps.end());
    ranks.push_back(std::move(trace.spans));
  }
  const analyzer::HostTime host =
      job.traces.front().compute == ComputeSource::kNone ? analyzer::HostTime::kRest : analyzer::HostTime::kRecorded;
  analyzer::ProgramSteps steps = analyzer::assign_program_steps(ranks, warmup, host);
  if (const MarkedBy& by = job.traces.front().marked_by; steps.source == analyzer::StepSource::kMarker && !by.pattern.empty()) {
    steps.source = analyzer::StepSource::kPattern;
    steps.confidence = by.confidence;
    steps.pattern = by.pattern;
  }
  for (analyzer::ProgramRank& rank : ranks) take_in_what_reaches_into_steps(rank);
  for (std::size_t i = 0; i < ranks.size(); ++i) job.traces[i].spans = std::move(ranks[i]);
  return steps;
}

void describe(const analyzer::ProgramSteps& steps, const TraceOrigin& origin, store::RunRecord& run, std::vector<std::string>& notes) {
  Facts& facts = run.environment.facts;
  set_fact(facts, fact_key<"program.steps_from">, analyzer::name_of(steps.source));
  set_fact(facts, fact_key<"program.steps">, steps.steps);
  set_fact(facts, fact_key<"program.outside_steps_ns">, steps.outside_ns);
  run.run_case.steps = std::max(1, static_cast<int>(steps.steps) - run.run_case.warmup);
  if (steps.source == analyzer::StepSource::kPattern) {
    set_fact(facts, fact_key<"program.confidence">, steps.confidence);
    set_fact(facts, fact_key<"program.pattern">, steps.pattern);
    notes.push_back(fmt::format("the traces mark no steps: they are inferred from the repeating call pattern, with a confidence of "
                                "{:.0f}%: {}",
                                100 * steps.confidence, steps.pattern));
  } else if (steps.source == analyzer::StepSource::kWindow) {
    notes.push_back("no training steps detected: the traces mark none, and no call pattern repeats. The whole "
                       "recording counts as one step. " + std::string(origin.marks_steps_with));
  }
}

/// False: another import of the same files was first.
bool store_job(const fs::path& store_file, store::RunRecord& run, const TraceJob& job, const std::vector<ClockMap>& clocks,
               const Placement& placement) {
  auto store = store::RunStore::open(store_file, store::OpenMode::kReadWrite);
  store::Batch batch(store);
  if (!store.runs({.sweep_id = run.sweep_id, .limit = 1}).empty()) return false;
  store.create_run(run);
  store.put_ranks(run.id, rank_records(job, clocks, placement));
  for (std::size_t i = 0; i < job.traces.size(); ++i)
    store.append_spans(run.id, job.ranks[i], job.traces[i].spans.spans, job.traces[i].spans.names);
  analyzer::finalize_run(store, run.id);
  if (const auto& collectives = job.traces.front().reported_collectives; !collectives.empty()) store.put_collectives(run.id, collectives);
  batch.commit();
  return true;
}

}  // namespace

TraceImport import_traces(const fs::path& store_file, std::vector<RankTrace> traces, const TraceOptions& options,
                          const TraceOrigin& origin) {
  TraceJob job = put_together(std::move(traces));
  const Placement placement = find_placement(job, options.gpus_per_node);
  store::RunRecord run = record_of(job, options, origin, placement);
  TraceImport result{run.id,        run.sweep_id,     false, static_cast<int>(job.traces.size()),
                     job.world_size, placement.is_known};
  const auto is_known = [&] {
    if (const store::RunId known = store::run_of_sweep(store_file, run.sweep_id); !known.empty()) {
      result.run = known;
      result.already_there = true;
    }
    return result.already_there;
  };
  if (is_known()) return result;
  keep_common_steps(job);
  shift_to_begin(job);
  number_collectives(job);
  check_joined(job);
  const std::vector<ClockMap> clocks = align_clocks(job);
  forget_groups_of_unknown_size(job);
  std::vector<std::string> notes;
  note_compute(job, origin, run, notes);
  note_sizes(job, origin, notes);
  describe(assign_steps(job, options.warmup), origin, run, notes);
  note_losses(job, notes);
  note_clocks(job, clocks, notes);
  if (!placement.note.empty()) notes.push_back(placement.note);
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
  for (std::size_t i = 0; i < notes.size(); ++i)
    set_fact(run.environment.facts, fact_key_of<"note.*">(static_cast<int>(i) + 1), notes[i]);
  run.state = store::RunState::kDone;
  if (!store_job(store_file, run, job, clocks, placement)) is_known();
  return result;
}

}  // namespace ddbench::imports
