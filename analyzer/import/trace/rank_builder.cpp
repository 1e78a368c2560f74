#include "analyzer/import/trace/rank_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "analyzer/import/trace/collective_names.h"
#include "core/error.h"
#include "core/nccl_event.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

constexpr int kMostDevices = 1023;
constexpr std::string_view kOfTorch = "aten::";
constexpr std::string_view kEvaluates = "autograd::engine::evaluate_function";

bool copies(std::string_view operator_name) {
  constexpr std::array kCopies = {std::string_view("copy_"), std::string_view("_to_copy"),
                                  std::string_view("to"),    std::string_view("clone"),
                                  std::string_view("contiguous"), std::string_view("_foreach_copy_")};
  return std::find(kCopies.begin(), kCopies.end(), operator_name.substr(kOfTorch.size())) != kCopies.end();
}

const Launch* find(const std::vector<Launch>& launches, std::uint64_t correlation) {
  const auto found = std::lower_bound(launches.begin(), launches.end(), correlation,
                                      [](const Launch& launch, std::uint64_t id) { return launch.correlation < id; });
  return found != launches.end() && found->correlation == correlation ? &*found : nullptr;
}

}  // namespace

CallKind call_kind_of(std::string_view name) noexcept {
  if (name.starts_with(kOfTorch)) return copies(name) ? CallKind::kCopyOperator : CallKind::kOperator;
  if (name.starts_with(kEvaluates)) return CallKind::kBackward;
  if (name.starts_with("Optimizer.")) return CallKind::kOptimizer;
  if (name.starts_with("enumerate(DataLoader)")) return CallKind::kDataWait;
  if (name.ends_with("Parallel.forward") || name == "## forward ##" || name == "forward") return CallKind::kForward;
  return CallKind::kOther;
}

std::size_t RankBuilder::add_span(const TraceEvent& event, SpanKind kind, Lane lane, std::string_view name) {
  Span span;
  span.begin_ns = event.begin_ns;
  span.end_ns = event.end_ns;
  span.kind = kind;
  span.lane = lane;
  span.name_id = names_.intern(name);
  trace_.spans.spans.push_back(span);
  return trace_.spans.spans.size() - 1;
}

void RankBuilder::add_work(const TraceEvent& event, std::size_t span) {
  work_.push_back({event.correlation ? *event.correlation + 1 : 0, span});
}

void RankBuilder::add_kernel(const TraceEvent& event) {
  ++trace_.kernels;
  if (event.device >= 0 && event.device <= kMostDevices) ++trace_.kernels_by_device[static_cast<int>(event.device)];
  const auto of_nccl = nccl_kernel_function(event.name);
  const std::string_view function = collective_function(event.collective.name);
  if (!of_nccl && function.empty())
    return add_work(event, add_span(event, SpanKind::kCompute, Lane::kDeviceCompute, event.name));
  TraceCollective collective;
  collective.function = !function.empty() ? function : of_nccl.value_or("");
  collective.span = add_span(event, SpanKind::kCommunication, Lane::kCommunication,
                             collective.function.empty() ? event.name : collective.function);
  trace_.spans.spans.back().bytes = bytes_of(event.collective);
  add_work(event, collective.span);
  add_collective(std::move(collective), event);
}

void RankBuilder::add_collective(TraceCollective collective, const TraceEvent& event) {
  const CollectiveArguments& arguments = event.collective;
  if (!arguments.group.empty() || !arguments.group_ranks.empty())
    collective.group = fmt::format("{} {}", arguments.group, arguments.group_ranks);
  collective.group_size = std::max(arguments.group_size, 0);
  if (const auto known = trace_.info.groups.find(std::string(arguments.group));
      collective.group_size == 0 && known != trace_.info.groups.end())
    collective.group_size = known->second;
  collective.sequence = arguments.sequence;
  collective.enqueued_ns = event.begin_ns;
  collective.stream = event.stream;
  trace_.collectives.push_back(std::move(collective));
}

void RankBuilder::add_copy(const TraceEvent& event) {
  const std::size_t span = add_span(event, SpanKind::kCopy, Lane::kDeviceCompute, event.name);
  trace_.spans.spans[span].bytes = std::min(event.bytes, kMostBytes);
  add_work(event, span);
}

void RankBuilder::add_launch(const TraceEvent& event) {
  const bool waits = event.name.ends_with("Synchronize");
  const bool is_kernel = event.name.find("LaunchKernel") != std::string_view::npos;
  add_call(event, waits ? CallKind::kWait : CallKind::kLaunch, event.correlation ? *event.correlation + 1 : 0);
  if (is_kernel && event.correlation) launched_kernels_.push_back(*event.correlation);
}

void RankBuilder::add_operator(const TraceEvent& event, CallKind kind) {
  const std::uint64_t id = event.autograd_sequence ? *event.autograd_sequence + 1 : 0;
  if (event.is_backward && id != 0) backward_ids_.insert(id);
  add_call(event, kind, kind == CallKind::kBackward ? 0 : id);
}

void RankBuilder::add_step(const TraceEvent& event, std::uint64_t number) {
  if (!steps_.insert(number).second) return;
  Span span;
  span.begin_ns = event.begin_ns;
  span.end_ns = event.end_ns;
  span.kind = SpanKind::kStep;
  span.name_id = names_.intern("step");
  span.bytes = number;
  trace_.steps.push_back(span);
  step_threads_.insert(thread(event.thread));
}

void RankBuilder::add_host_collective(const TraceEvent& event, std::string_view backend, std::string_view name,
                                      std::uint64_t bytes) {
  TraceCollective collective;
  collective.function = collective_function(name);
  collective.span = add_span(event, SpanKind::kCommunication, Lane::kCommunication,
                             collective.function.empty() ? event.name : collective.function);
  trace_.spans.spans.back().bytes = bytes;
  add_collective(std::move(collective), event);
  if (trace_.collectives.back().group.empty()) trace_.collectives.back().group = backend;
}

void RankBuilder::add_enqueued(const TraceEvent& event, std::string_view name, std::uint64_t bytes, std::string group,
                               int group_size) {
  enqueued_.push_back({collective_function(name), bytes, std::move(group), group_size});
  add_call(event, CallKind::kCollective, enqueued_.size());
}

void RankBuilder::add_call(const TraceEvent& event, CallKind kind, std::uint64_t id) {
  CpuCall call;
  call.begin_ns = event.begin_ns;
  call.end_ns = event.end_ns;
  call.id = id;
  call.thread = thread(event.thread);
  call.kind = kind;
  if (kind == CallKind::kOperator || kind == CallKind::kCopyOperator) call.name_id = names_.intern(event.name);
  calls_.push_back(call);
}

std::uint16_t RankBuilder::thread(std::int64_t id) {
  if (threads_.size() > std::numeric_limits<std::uint16_t>::max() - 1 && !threads_.contains(id)) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: it has events of more than 65535 threads: this is no trace of one rank",
                            trace_.file.string()),
                0, trace_.file.string());
  }
  return threads_.try_emplace(id, static_cast<std::uint16_t>(threads_.size())).first->second;
}

RankTrace RankBuilder::finish() {
  trace_.compute = trace_.kernels > 0 ? ComputeSource::kKernels : ComputeSource::kOperators;
  CallTree tree = build_call_tree(calls_, backward_ids_, std::move(step_threads_));
  calls_ = {};
  if (trace_.compute == ComputeSource::kKernels) {
    find_phases(tree.launches);
    find_unknown_groups();
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

/// Takes the pass of each kernel from the calls that launched it.
void RankBuilder::find_phases(const std::vector<Launch>& launches) {
  std::unordered_map<std::size_t, TraceCollective*> collectives;
  for (TraceCollective& collective : trace_.collectives) collectives[collective.span] = &collective;
  for (const DeviceWork& work : work_) {
    Span& span = trace_.spans.spans[work.span];
    const Launch* const launch = work.correlation == 0 ? nullptr : find(launches, work.correlation - 1);
    trace_.kernels_without_launch += launch == nullptr && span.kind == SpanKind::kCompute;
    if (launch == nullptr) continue;
    if (span.kind == SpanKind::kCompute) span.kind = launch->phase;
    if (span.kind == SpanKind::kCommunication) describe_collective(*collectives.at(work.span), *launch);
  }
}

void RankBuilder::describe_collective(TraceCollective& collective, const Launch& launch) {
  collective.enqueued_ns = launch.begin_ns;
  if (launch.collective == 0) return;
  const EnqueuedCollective& enqueued = enqueued_[launch.collective - 1];
  Span& span = trace_.spans.spans[collective.span];
  if (span.bytes == 0) span.bytes = enqueued.bytes;
  if (collective.group.empty() && !enqueued.group.empty()) {
    collective.group = enqueued.group;
    collective.group_size = enqueued.group_size;
  }
  if (is_group_function(collective.function) || enqueued.function.empty()) return;
  collective.function = enqueued.function;  // of an all_to_all NCCL makes sends and receives
  span.name_id = names_.intern(enqueued.function);
}

/// A communicator has a stream of its own: where the trace states no groups, one stream is one communicator, and several are several.
void RankBuilder::find_unknown_groups() {
  std::set<std::int64_t> streams;
  for (const TraceCollective& collective : trace_.collectives) {
    if (is_group_function(collective.function)) streams.insert(collective.stream);
  }
  if (streams.size() < 2) return;
  for (TraceCollective& collective : trace_.collectives) {
    if (!collective.group.empty() || !is_group_function(collective.function)) continue;
    collective.is_group_known = false;
    ++trace_.collectives_of_unknown_group;
  }
}

void RankBuilder::count_lost(const std::vector<Launch>& launches) {
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

void RankBuilder::add(const std::vector<Span>& spans) {
  trace_.spans.spans.insert(trace_.spans.spans.end(), spans.begin(), spans.end());
}

void RankBuilder::name(std::vector<Span>& spans, std::string_view name) {
  const std::uint32_t id = names_.intern(name);
  for (Span& span : spans) span.name_id = id;
  add(spans);
}

void RankBuilder::add_base() {
  for (std::vector<Span>* const spans : {&trace_.spans.spans, &trace_.steps}) {
    for (Span& span : *spans) {
      span.begin_ns = add_ns(span.begin_ns, trace_.info.base_ns);
      span.end_ns = add_ns(span.end_ns, trace_.info.base_ns);
    }
  }
  for (TraceCollective& collective : trace_.collectives)
    collective.enqueued_ns = add_ns(collective.enqueued_ns, trace_.info.base_ns);
}

}  // namespace ddbench::imports
