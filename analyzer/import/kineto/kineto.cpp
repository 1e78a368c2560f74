#include "analyzer/import/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/finalize/finalize.h"
#include "analyzer/import/kineto/align_clocks.h"
#include "analyzer/import/kineto/job.h"
#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/rows/run_store.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

bool is_trace_name(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

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

std::string identity_of(const TraceJob& job) {
  std::string id = "kineto-";
  std::uint64_t hash = 0;
  for (const RankTrace& trace : job.traces) hash = hash * 0x100'0000'01b3ULL + trace.hash;
  return id + fmt::format("{:016x}", hash);
}

/// Ranks of a machine: as many as it has GPUs, where that divides the job.
int ranks_per_node(const TraceJob& job) {
  const int devices = job.traces.front().info.devices;
  const bool divides = devices > 0 && devices < job.world_size && job.world_size % devices == 0;
  return divides ? devices : job.world_size;
}

const char* name_of(analyzer::StepSource source) {
  switch (source) {
    case analyzer::StepSource::kMarker: return "marker";
    case analyzer::StepSource::kPattern: return "pattern";
    case analyzer::StepSource::kWindow: return "window";
  }
  return "";
}

void note_compute(const TraceJob& job, store::RunRecord& run, std::vector<std::string>& notes) {
  const bool has_kernels = job.traces.front().compute == ComputeSource::kKernels;
  notes.emplace_back(has_kernels
                         ? "compute is what kernels take on the GPU, by the pass that launched them; copies and fills of "
                           "memory are copies; host is operators and launches on the CPU where the GPU does nothing"
                         : "the traces have no kernels: compute is what PyTorch's operators take on the CPU");
  if (has_kernels || job.traces.front().info.devices == 0) return;
  run.valid = false;
  run.invalid_reason =
      "the machine has GPUs and its trace no kernels: what was computed is not known (was ProfilerActivity.CUDA on?)";
}

void note_losses(const TraceJob& job, std::vector<std::string>& notes) {
  std::size_t without_launch = 0;
  std::size_t without_kernel = 0;
  std::size_t kernels = 0;
  for (const RankTrace& trace : job.traces) {
    without_launch += trace.kernels_without_launch;
    without_kernel += trace.launches_without_kernel;
    kernels += trace.kernels;
  }
  if (without_kernel > 0) {
    notes.push_back(fmt::format("{} kernels were launched and are not in the traces, which have {}: the profiler lost "
                                "events, and compute is more than what is shown",
                                without_kernel, kernels));
  }
  if (without_launch > 0) {
    notes.push_back(fmt::format("of {} of {} kernels the launch is not in the traces: whether they are forward, backward "
                                "or optimizer is not known",
                                without_launch, kernels));
  }
}

void note_sizes(const TraceJob& job, std::vector<std::string>& notes) {
  const auto lacks_size = [](const RankTrace& trace) {
    return std::any_of(trace.collectives.begin(), trace.collectives.end(), [&](const TraceCollective& collective) {
      return collective.function != "barrier" && trace.spans.spans[collective.span].bytes == 0;
    });
  };
  if (!std::any_of(job.traces.begin(), job.traces.end(), lacks_size)) return;
  notes.emplace_back("the traces do not say how many bytes some collectives moved, so that these have no bandwidth "
                     "(PyTorch tells with record_shapes=True)");
}

void note_clocks(const TraceJob& job, const std::vector<ClockMap>& clocks, std::vector<std::string>& notes) {
  if (clocks.size() == 1) return;
  std::int64_t widest_ns = 0;
  std::size_t not_compared = 0;
  for (std::size_t rank = 1; rank < clocks.size(); ++rank) {
    widest_ns = std::max(widest_ns, clocks[rank].uncertainty_ns());
    not_compared += clocks[rank].start.at_ns == 0;
  }
  notes.push_back(
      not_compared > 0
          ? fmt::format("no collective ties the clocks of {} of {} traces to that of rank {}: waits for peers are not known",
                        not_compared, clocks.size(), job.ranks.front())
          : fmt::format("the clocks of the ranks were aligned by their collectives, to ±{:.3g} us",
                        static_cast<double>(widest_ns) / 1e3));
}

/// Where ranks are missing, nobody knows when the last one came to a collective of a group whose size is not known.
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

store::RunRecord record_of(const TraceJob& job, const KinetoOptions& options) {
  store::RunRecord run;
  run.id = store::new_run_id();
  set_program(run.run_case, {options.name.empty() ? name_of(job.traces.front().file) : options.name});
  run.run_case.gpus_per_node = ranks_per_node(job);
  run.run_case.nodes = job.world_size / run.run_case.gpus_per_node;
  run.run_case.batch_per_gpu = options.batch_per_gpu;
  run.run_case.warmup = options.warmup;
  validate(run.run_case);
  run.provenance = ProvenanceSet{Provenance::kImported};
  run.sweep_id = identity_of(job);
  run.started_wall_ns = run.finished_wall_ns = wall_ns();
  Facts& facts = run.environment.facts;
  set_fact(facts, fact_key<"import.file">, job.traces.front().file.string());
  const TraceInfo& info = job.traces.front().info;
  if (!info.device_model.empty()) set_fact(facts, fact_key_of<"gpu.*.model">(0), info.device_model);
  if (info.devices > 0) set_fact(facts, fact_key<"gpu.count">, info.devices);
  return run;
}

std::vector<store::RankRecord> rank_records(const TraceJob& job, const std::vector<ClockMap>& clocks, int per_node) {
  std::vector<store::RankRecord> records;
  for (std::size_t i = 0; i < job.traces.size(); ++i) {
    store::RankRecord& record = records.emplace_back();
    record.rank = job.ranks[i];
    record.local_rank = job.ranks[i] % per_node;
    record.node = job.ranks[i] / per_node;
    record.host = "imported";
    record.clock = clocks[i];
    record.outcome = "ok";
  }
  return records;
}

analyzer::ProgramSteps assign_steps(TraceJob& job, int warmup) {
  std::vector<analyzer::ProgramRank> ranks;
  for (RankTrace& trace : job.traces) {
    for (Span& step : trace.steps) step.bytes = 0;
    trace.spans.spans.insert(trace.spans.spans.end(), trace.steps.begin(), trace.steps.end());
    ranks.push_back(std::move(trace.spans));
  }
  const analyzer::ProgramSteps steps =
      analyzer::assign_program_steps(ranks, warmup, analyzer::HostTime::kRecorded);
  for (std::size_t i = 0; i < ranks.size(); ++i) job.traces[i].spans = std::move(ranks[i]);
  return steps;
}

void describe(const analyzer::ProgramSteps& steps, store::RunRecord& run, std::vector<std::string>& notes) {
  Facts& facts = run.environment.facts;
  set_fact(facts, fact_key<"program.steps_from">, name_of(steps.source));
  set_fact(facts, fact_key<"program.steps">, steps.steps);
  set_fact(facts, fact_key<"program.outside_steps_ns">, steps.outside_ns);
  run.run_case.steps = std::max(1, static_cast<int>(steps.steps) - run.run_case.warmup);
  if (steps.source == analyzer::StepSource::kPattern) {
    set_fact(facts, fact_key<"program.confidence">, steps.confidence);
    set_fact(facts, fact_key<"program.pattern">, steps.pattern);
    notes.push_back(fmt::format("the traces mark no steps: they were found by what repeats itself, with a confidence of "
                                "{:.0f}%: {}",
                                100 * steps.confidence, steps.pattern));
  } else if (steps.source == analyzer::StepSource::kWindow) {
    notes.emplace_back("the traces mark no steps, and nothing in them repeats itself as training does: the whole "
                       "recording counts as one step. Call profiler.step() after each one to mark them");
  }
}

/// False: another import of the same files was first.
bool store_job(const fs::path& store_file, store::RunRecord& run, const TraceJob& job, const std::vector<ClockMap>& clocks) {
  auto store = store::RunStore::open(store_file, store::OpenMode::kReadWrite);
  store::Batch batch(store);
  if (!store.runs({.sweep_id = run.sweep_id, .limit = 1}).empty()) return false;
  store.create_run(run);
  store.put_ranks(run.id, rank_records(job, clocks, run.run_case.gpus_per_node));
  for (std::size_t i = 0; i < job.traces.size(); ++i)
    store.append_spans(run.id, job.ranks[i], job.traces[i].spans.spans, job.traces[i].spans.names);
  analyzer::finalize_run(store, run.id);
  batch.commit();
  return true;
}

}  // namespace

std::vector<fs::path> trace_files(const std::vector<fs::path>& files_and_folders) {
  std::vector<fs::path> files;
  for (const fs::path& path : files_and_folders) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.is_regular_file(error) && is_trace_name(entry.path())) files.push_back(entry.path());
    }
    if (files.size() == before) {
      throw Error(ErrorCode::kBadInput, fmt::format("{}: this folder has no *.json or *.json.gz, or cannot be read", path.string()),
                  0, path.string());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

KinetoImport import_kineto(const fs::path& store_file, const std::vector<fs::path>& files, const KinetoOptions& options,
                           const FileProgress& progress) {
  std::vector<RankTrace> traces;
  for (const fs::path& file : files) {
    if (progress) progress(traces.size(), files.size());
    traces.push_back(read_rank_trace(file));
  }
  TraceJob job = put_together(std::move(traces));
  store::RunRecord run = record_of(job, options);
  KinetoImport result{run.id, run.sweep_id, false, static_cast<int>(job.traces.size()), job.world_size};
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
  const std::vector<ClockMap> clocks = align_clocks(job);
  forget_groups_of_unknown_size(job);
  std::vector<std::string> notes;
  note_compute(job, run, notes);
  note_sizes(job, notes);
  describe(assign_steps(job, options.warmup), run, notes);
  note_losses(job, notes);
  note_clocks(job, clocks, notes);
  notes.insert(notes.end(), job.notes.begin(), job.notes.end());
  for (std::size_t i = 0; i < notes.size(); ++i)
    set_fact(run.environment.facts, fact_key_of<"note.*">(static_cast<int>(i) + 1), notes[i]);
  run.state = store::RunState::kDone;
  if (!store_job(store_file, run, job, clocks)) is_known();
  return result;
}

}  // namespace ddbench::imports
