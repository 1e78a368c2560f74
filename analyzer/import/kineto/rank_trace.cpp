#include "analyzer/import/kineto/rank_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/import/kineto/collective_names.h"
#include "analyzer/import/kineto/cpu_calls.h"
#include "analyzer/import/kineto/trace_event.h"
#include "analyzer/import/kineto/trace_text.h"
#include "core/error.h"
#include "core/name_table.h"
#include "core/nccl_event.h"
#include "core/span_limits.h"
#include "core/text/number.h"

namespace ddbench::imports {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";
constexpr std::string_view kOfTorch = "aten::";
constexpr std::string_view kEvaluates = "autograd::engine::evaluate_function";

bool equal_ignoring_case(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == y;
         });
}

bool copies(std::string_view operator_name) {
  constexpr std::array kCopies = {std::string_view("copy_"), std::string_view("_to_copy"),
                                  std::string_view("to"),    std::string_view("clone"),
                                  std::string_view("contiguous"), std::string_view("_foreach_copy_")};
  return std::find(kCopies.begin(), kCopies.end(), operator_name.substr(kOfTorch.size())) != kCopies.end();
}

/// "gloo:all_reduce": what the backend itself tells of a collective.
bool names_backend(std::string_view name, std::string_view backend) {
  return name.size() > backend.size() && name.starts_with(backend) && name[backend.size()] == ':';
}

enum class EventKind : std::uint8_t { kKernel, kCopy, kLaunch, kCpu, kNone };

EventKind kind_of(std::string_view category) {
  const auto is = [&](std::string_view lower) { return equal_ignoring_case(category, lower); };
  if (is("kernel")) return EventKind::kKernel;
  if (is("gpu_memcpy") || is("gpu_memset") || is("memcpy") || is("memset")) return EventKind::kCopy;
  if (category.ends_with("_runtime") || category.ends_with("_driver") || is("runtime")) return EventKind::kLaunch;
  if (category.empty() || is("cpu_op") || is("operator") || is("user_annotation")) return EventKind::kCpu;
  return EventKind::kNone;
}

CallKind call_kind_of(const TraceEvent& event) {
  if (event.name.starts_with(kOfTorch)) return copies(event.name) ? CallKind::kCopyOperator : CallKind::kOperator;
  if (event.name.starts_with(kEvaluates)) return CallKind::kBackward;
  if (event.name.starts_with("Optimizer.")) return CallKind::kOptimizer;
  if (event.name.starts_with("enumerate(DataLoader)")) return CallKind::kDataWait;
  if (event.name.ends_with("Parallel.forward") || event.name == "## forward ##" || event.name == "forward")
    return CallKind::kForward;
  return CallKind::kOther;
}

/// What a call to NCCL says of the kernel that it launches, where the kernel does not.
struct EnqueuedCollective {
  std::string_view function;
  std::uint64_t bytes = 0;
};

struct DeviceWork {
  std::uint64_t correlation = 0;  ///< 1 + that of the call; 0: none
  std::size_t span = 0;
};

class RankReader {
 public:
  explicit RankReader(const std::filesystem::path& file) { trace_.file = file; }

  void take(const TraceEvent& event) {
    switch (kind_of(event.category)) {
      case EventKind::kKernel: return add_kernel(event);
      case EventKind::kCopy: return add_copy(event);
      case EventKind::kLaunch: return add_launch(event);
      case EventKind::kCpu: return add_cpu(event);
      case EventKind::kNone: return;
    }
  }

  RankTrace finish() {
    trace_.compute = trace_.kernels > 0 ? ComputeSource::kKernels : ComputeSource::kOperators;
    CallTree tree = build_call_tree(calls_, backward_ids_, std::move(step_threads_));
    calls_ = {};
    if (trace_.compute == ComputeSource::kKernels) {
      find_phases(tree.launches);
      count_lost(tree.launches);
    } else {
      add(tree.operators);
    }
    name(tree.host, "host");
    name(tree.data_waits, "data_wait");
    trace_.spans.names = names_.names();
    add_base();
    return std::move(trace_);
  }

  TraceInfo& info() { return trace_.info; }
  void set_hash(std::uint64_t hash) { trace_.hash = hash; }

 private:
  std::size_t add_span(const TraceEvent& event, SpanKind kind, Lane lane, std::string_view name) {
    Span span;
    span.begin_ns = event.begin_ns;
    span.end_ns = event.end_ns;
    span.kind = kind;
    span.lane = lane;
    span.name_id = names_.intern(name);
    trace_.spans.spans.push_back(span);
    return trace_.spans.spans.size() - 1;
  }

  void add_work(const TraceEvent& event, std::size_t span) {
    work_.push_back({event.correlation ? *event.correlation + 1 : 0, span});
  }

  void add_kernel(const TraceEvent& event) {
    ++trace_.kernels;
    const auto of_nccl = nccl_kernel_function(event.name);
    const std::string_view told = collective_function(event.collective.name);
    if (!of_nccl && told.empty())
      return add_work(event, add_span(event, SpanKind::kCompute, Lane::kDeviceCompute, event.name));
    TraceCollective collective;
    collective.function = !told.empty() ? told : of_nccl.value_or("");
    collective.span = add_span(event, SpanKind::kCommunication, Lane::kCommunication,
                               collective.function.empty() ? event.name : collective.function);
    trace_.spans.spans.back().bytes = bytes_of(event.collective);
    add_work(event, collective.span);
    add_collective(std::move(collective), event);
  }

  void add_collective(TraceCollective collective, const TraceEvent& event) {
    const CollectiveArguments& told = event.collective;
    if (!told.group.empty() || !told.group_ranks.empty())
      collective.group = fmt::format("{} {}", told.group, told.group_ranks);
    collective.group_size = std::max(told.group_size, 0);
    if (const auto known = trace_.info.groups.find(std::string(told.group));
        collective.group_size == 0 && known != trace_.info.groups.end())
      collective.group_size = known->second;
    collective.sequence = told.sequence;
    collective.enqueued_ns = event.begin_ns;
    trace_.collectives.push_back(std::move(collective));
  }

  void add_copy(const TraceEvent& event) {
    const std::size_t span = add_span(event, SpanKind::kCopy, Lane::kDeviceCompute, event.name);
    trace_.spans.spans[span].bytes = std::min(event.bytes, kMostBytes);
    add_work(event, span);
  }

  void add_launch(const TraceEvent& event) {
    const bool waits = event.name.ends_with("Synchronize");
    const bool is_kernel = event.name.find("LaunchKernel") != std::string_view::npos;
    add_call(event, waits ? CallKind::kWait : CallKind::kLaunch, event.correlation ? *event.correlation + 1 : 0);
    if (is_kernel && event.correlation) launched_kernels_.push_back(*event.correlation);
  }

  void add_cpu(const TraceEvent& event) {
    if (event.name.starts_with(kStepMark)) return add_step(event);
    for (const std::string_view backend : {"gloo", "mpi", "ucc"}) {
      if (names_backend(event.name, backend)) return add_host_collective(event, backend);
    }
    if (names_backend(event.name, "nccl")) return add_enqueued(event);
    const CallKind kind = call_kind_of(event);
    const bool is_annotation = equal_ignoring_case(event.category, "user_annotation");
    if (is_annotation && kind == CallKind::kOther) return;
    const std::uint64_t id = event.autograd_sequence ? *event.autograd_sequence + 1 : 0;
    if (event.is_backward && id != 0) backward_ids_.insert(id);
    add_call(event, kind, kind == CallKind::kBackward ? 0 : id);
  }

  void add_step(const TraceEvent& event) {
    const auto number = number_from<std::uint64_t>(event.name.substr(kStepMark.size()));
    if (!number || !steps_.insert(*number).second) return;
    Span span;
    span.begin_ns = event.begin_ns;
    span.end_ns = event.end_ns;
    span.kind = SpanKind::kStep;
    span.name_id = names_.intern("step");
    span.bytes = *number;
    trace_.steps.push_back(span);
    step_threads_.insert(thread(event.thread));
  }

  void add_host_collective(const TraceEvent& event, std::string_view backend) {
    TraceCollective collective;
    collective.function = collective_function(event.name.substr(backend.size() + 1));
    collective.span = add_span(event, SpanKind::kCommunication, Lane::kCommunication,
                               collective.function.empty() ? event.name : collective.function);
    trace_.spans.spans.back().bytes = bytes_of_inputs(event);
    add_collective(std::move(collective), event);
    if (trace_.collectives.back().group.empty()) trace_.collectives.back().group = backend;
  }

  static std::uint64_t bytes_of_inputs(const TraceEvent& event) {
    return bytes_of({.name = {}, .dtype = event.first_type, .in_elements = event.first_elements, .group = {}, .group_ranks = {}, .sequence = {}});
  }

  void add_enqueued(const TraceEvent& event) {
    enqueued_.push_back({collective_function(event.name.substr(5)), bytes_of_inputs(event)});
    add_call(event, CallKind::kCollective, enqueued_.size());
  }

  void add_call(const TraceEvent& event, CallKind kind, std::uint64_t id) {
    CpuCall call;
    call.begin_ns = event.begin_ns;
    call.end_ns = event.end_ns;
    call.id = id;
    call.thread = thread(event.thread);
    call.kind = kind;
    if (kind == CallKind::kOperator || kind == CallKind::kCopyOperator) call.name_id = names_.intern(event.name);
    calls_.push_back(call);
  }

  std::uint16_t thread(std::int64_t id) {
    if (threads_.size() > std::numeric_limits<std::uint16_t>::max() - 1 && !threads_.contains(id)) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}: it has events of more than 65535 threads: this is no trace of one rank",
                              trace_.file.string()),
                  0, trace_.file.string());
    }
    return threads_.try_emplace(id, static_cast<std::uint16_t>(threads_.size())).first->second;
  }

  /// What the calls that launched kernels say of them.
  void find_phases(const std::vector<Launch>& launches) {
    std::unordered_map<std::size_t, TraceCollective*> collectives;
    for (TraceCollective& collective : trace_.collectives) collectives[collective.span] = &collective;
    for (const DeviceWork& work : work_) {
      Span& span = trace_.spans.spans[work.span];
      const Launch* const launch = work.correlation == 0 ? nullptr : find(launches, work.correlation - 1);
      trace_.kernels_without_launch += launch == nullptr && span.kind == SpanKind::kCompute;
      if (launch == nullptr) continue;
      if (span.kind == SpanKind::kCompute) span.kind = launch->phase;
      if (span.kind != SpanKind::kCommunication) continue;
      TraceCollective& collective = *collectives.at(work.span);
      collective.enqueued_ns = launch->begin_ns;
      if (launch->collective == 0) continue;
      const EnqueuedCollective& enqueued = enqueued_[launch->collective - 1];
      if (span.bytes == 0) span.bytes = enqueued.bytes;
      if (is_group_function(collective.function) || enqueued.function.empty()) continue;
      collective.function = enqueued.function;  // of an all_to_all NCCL makes sends and receives
      span.name_id = names_.intern(enqueued.function);
    }
  }

  static const Launch* find(const std::vector<Launch>& launches, std::uint64_t correlation) {
    const auto found = std::lower_bound(launches.begin(), launches.end(), correlation,
                                        [](const Launch& launch, std::uint64_t id) { return launch.correlation < id; });
    return found != launches.end() && found->correlation == correlation ? &*found : nullptr;
  }

  void count_lost(const std::vector<Launch>& launches) {
    std::unordered_set<std::uint64_t> ran;
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    for (const DeviceWork& work : work_) {
      if (work.correlation == 0) continue;
      ran.insert(work.correlation - 1);
      if (const Launch* const launch = find(launches, work.correlation - 1)) last_ns = std::max(last_ns, launch->begin_ns);
    }
    for (const std::uint64_t correlation : launched_kernels_) {
      const Launch* const launch = find(launches, correlation);
      trace_.launches_without_kernel += launch != nullptr && launch->begin_ns < last_ns && !ran.contains(correlation);
    }
  }

  void add(const std::vector<Span>& spans) {
    trace_.spans.spans.insert(trace_.spans.spans.end(), spans.begin(), spans.end());
  }
  void name(std::vector<Span>& spans, std::string_view name) {
    const std::uint32_t id = names_.intern(name);
    for (Span& span : spans) span.name_id = id;
    add(spans);
  }

  void add_base() {
    for (std::vector<Span>* const spans : {&trace_.spans.spans, &trace_.steps}) {
      for (Span& span : *spans) {
        span.begin_ns = add_ns(span.begin_ns, trace_.info.base_ns);
        span.end_ns = add_ns(span.end_ns, trace_.info.base_ns);
      }
    }
    for (TraceCollective& collective : trace_.collectives)
      collective.enqueued_ns = add_ns(collective.enqueued_ns, trace_.info.base_ns);
  }

  RankTrace trace_;
  NameTable names_;
  std::vector<CpuCall> calls_;
  std::unordered_map<std::int64_t, std::uint16_t> threads_;
  std::unordered_set<std::uint16_t> step_threads_;
  std::unordered_set<std::uint64_t> backward_ids_;
  std::unordered_set<std::uint64_t> steps_;
  std::vector<EnqueuedCollective> enqueued_;
  std::vector<DeviceWork> work_;
  std::vector<std::uint64_t> launched_kernels_;
};

}  // namespace

RankTrace read_rank_trace(const std::filesystem::path& file) {
  FileBytes bytes(file);
  TraceText text(bytes);
  EventParser parser(file);
  RankReader reader(file);
  std::string_view key;
  JsonPiece piece;
  bool has_events = false;
  for (TraceText::What what; (what = text.next(key, piece)) != TraceText::What::kEnd;) {
    if (what == TraceText::What::kEvents) {
      has_events = true;
      parser.parse(piece, [&](const TraceEvent& event) { reader.take(event); });
    } else {
      read_trace_member(key, piece, file, reader.info());
    }
  }
  reader.set_hash(bytes.hash());
  RankTrace trace = reader.finish();
  if (!has_events || trace.spans.spans.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has no event of PyTorch's profiler that ddbench can use (kernels, operators, steps)",
                            file.string()),
                0, file.string());
  }
  return trace;
}

}  // namespace ddbench::imports
