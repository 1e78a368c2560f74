#include "analyzer/attribution/nccl_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/attribution/communicators.h"
#include "analyzer/attribution/nccl_waits.h"
#include "core/name_table.h"

namespace ddbench::analyzer {
namespace {

// Times of events are late by the polling of NCCL's proxy thread; further off, it is another kernel's.
constexpr std::int64_t kMostLate_ns = 2'000'000;
// An event without a length states when its collective was enqueued. It is recorded soon after the kernel's
// launch; the kernel may have waited this long for the GPU.
constexpr std::int64_t kReportedAfterLaunch_ns = 200'000;
constexpr std::int64_t kLongestQueued_ns = 1'000'000'000;

struct Event {
  Span span;
  NcclEvent what;
};

/// Or, if no kernels were recorded, the engine's record of its call.
struct Kernel {
  Span* span = nullptr;
  std::string_view function;  ///< "" if the name does not state it
  bool is_call = false;
  std::vector<const Event*> events;
};

std::uint32_t id_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::uint32_t>(found - names.begin());
  names.push_back(name);
  return static_cast<std::uint32_t>(names.size() - 1);
}

std::string_view name_of(const Span& span, const std::vector<std::string>& names) {
  return span.name_id < names.size() ? std::string_view(names[span.name_id]) : "";
}

std::vector<Event> take_events(std::vector<Span>& spans, const std::vector<std::string>& names) {
  std::vector<Event> events;
  std::erase_if(spans, [&](const Span& span) {
    if (span.kind != SpanKind::kNcclEvent) return false;
    events.push_back({span, parse_nccl_event(name_of(span, names)).value_or(NcclEvent{})});
    return true;
  });
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.span.begin_ns < b.span.begin_ns; });
  return events;
}

std::vector<Kernel> kernels_of(std::vector<Span>& spans, const std::vector<std::string>& names,
                               const std::vector<Event>& events, NcclJoin& join) {
  std::unordered_set<std::uint64_t> keys;
  for (const Event& event : events) keys.insert(event.span.correlation);
  keys.erase(0);
  std::vector<Kernel> kernels;
  for (Span& span : spans) {
    if (span.kind != SpanKind::kCommunication || span.end_ns < span.begin_ns) continue;
    const bool is_call = span.lane != Lane::kDeviceCommunication;
    if (is_call && !keys.contains(span.correlation)) continue;  // another library's, or one without an event
    const std::string_view name = name_of(span, names);
    if (!is_call && nccl_kernel_function(name) == "") join.unknown_kernels.emplace(name);
    kernels.push_back({&span, nccl_function_number(name) != 0 ? name : "", is_call, {}});
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.span->begin_ns < b.span->begin_ns; });
  return kernels;
}

/// Negative: the time between them.
std::int64_t overlap_ns(const Span& a, const Span& b) {
  return std::min(a.end_ns, b.end_ns) - std::max(a.begin_ns, b.begin_ns);
}

/// Kernels on one stream run one after the other, so few of them are near an event.
class KernelsByTime {
 public:
  explicit KernelsByTime(std::vector<Kernel>& kernels) : kernels_(kernels) {
    for (const Kernel& kernel : kernels_) {
      longest_ns_ = std::max(longest_ns_, kernel.span->duration_ns());
    }
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (kernels_[i].span->correlation != 0) by_key_.emplace(kernels_[i].span->correlation, i);
    }
  }

  Kernel* find(const Event& event) {
    if (Kernel* const same_key = of_its_key(event)) return same_key;
    if (is_timed(event)) return beside(event);
    if (group_ != nullptr && event.span.begin_ns == group_ns_) return group_;
    group_ = next_after(event);
    group_ns_ = event.span.begin_ns;
    return group_;
  }

  static bool is_timed(const Event& event) { return event.span.end_ns > event.span.begin_ns; }

 private:
  /// Several kernels have one key where a step of the engine's takes two collectives.
  Kernel* of_its_key(const Event& event) {
    Kernel* best = nullptr;
    if (event.span.correlation == 0) return best;
    const auto [first, last] = by_key_.equal_range(event.span.correlation);
    for (auto found = first; found != last; ++found) {
      Kernel& kernel = kernels_[found->second];
      if (best == nullptr || fits_better(kernel, *best, event)) best = &kernel;
    }
    return best;
  }

  /// The first that begins at this time or later.
  auto from(std::int64_t first_ns) {
    return std::lower_bound(kernels_.begin(), kernels_.end(), first_ns,
                            [](const Kernel& a, std::int64_t at) { return a.span->begin_ns < at; });
  }

  Kernel* beside(const Event& event) {
    Kernel* best = nullptr;
    auto kernel = from(event.span.begin_ns - longest_ns_ - kMostLate_ns);
    for (; kernel != kernels_.end() && kernel->span->begin_ns <= event.span.end_ns + kMostLate_ns; ++kernel) {
      if (kernel->span->correlation != 0) continue;  // of another collective
      if (overlap_ns(*kernel->span, event.span) < -kMostLate_ns) continue;
      if (best == nullptr || fits_better(*kernel, *best, event)) best = &*kernel;
    }
    return best;
  }

  /// Kernels run in the order in which they were enqueued.
  Kernel* next_after(const Event& event) {
    auto kernel = from(event.span.begin_ns - kReportedAfterLaunch_ns);
    for (; kernel != kernels_.end() && kernel->span->begin_ns <= event.span.begin_ns + kLongestQueued_ns;
         ++kernel) {
      const bool may_be = kernel->function.empty() || kernel->function == event.what.function;
      if (may_be && kernel->events.empty() && kernel->span->correlation == 0) return &*kernel;
    }
    return nullptr;
  }

  static bool fits_better(const Kernel& kernel, const Kernel& best, const Event& event) {
    const bool same = kernel.function == event.what.function;
    const bool best_is_same = best.function == event.what.function;
    if (same != best_is_same) return same;
    return overlap_ns(*kernel.span, event.span) > overlap_ns(*best.span, event.span);
  }

  std::vector<Kernel>& kernels_;
  Kernel* group_ = nullptr;  // of the latest untimed event without a key
  std::int64_t group_ns_ = 0;
  std::int64_t longest_ns_ = 0;
  std::unordered_multimap<std::uint64_t, std::size_t> by_key_;
};

Span communication_of(const Event& event, std::vector<std::string>& names) {
  Span span = event.span;
  span.kind = SpanKind::kCommunication;
  span.lane = Lane::kDeviceCommunication;
  span.name_id = id_of(event.what.function, names);
  return span;
}

/// The only collective of a kernel, or the first of several, replaces the kernel. A call keeps the engine's
/// times: not every NCCL version reports the GPU's times. What the engine has named stays one span: its events are
/// parts of it.
void apply(Kernel& kernel, std::vector<std::string>& names, std::vector<Span>& added) {
  if (kernel.is_call || is_named_by_engine(name_of(*kernel.span, names))) return;
  const Span own = *kernel.span;
  for (std::size_t i = 0; i < kernel.events.size(); ++i) {
    const Event& event = *kernel.events[i];
    Span span = communication_of(event, names);
    const bool is_part = kernel.events.size() > 1 && KernelsByTime::is_timed(event);
    span.begin_ns = is_part ? std::clamp(event.span.begin_ns, own.begin_ns, own.end_ns) : own.begin_ns;
    span.end_ns = is_part ? std::clamp(event.span.end_ns, span.begin_ns, own.end_ns) : own.end_ns;
    span.reserved = own.reserved;  // device and stream
    if (own.step != kNoStep) span.step = own.step;
    if (own.bucket != kNoBucket) span.bucket = own.bucket;
    if (own.correlation != 0) {
      span.correlation = own.correlation;
      span.bytes = own.bytes != 0 ? own.bytes : span.bytes;
    }
    if (i == 0) {
      *kernel.span = span;
    } else {
      added.push_back(span);
    }
  }
}

/// Ranks of one communicator run its collectives in one order.
void number(std::vector<Kernel>& kernels, NcclJoin& join) {
  std::uint64_t order = 0;
  for (Kernel& kernel : kernels) {
    if (kernel.span->correlation != 0 || kernel.function == "send_recv") continue;
    kernel.span->correlation = collective_key(0, ++order);
    ++join.numbered;
  }
}

/// `ranks`: how many the communicator has; 0: not known.
std::string kind_of(const std::string& function, std::uint64_t bytes, int ranks) {
  return fmt::format("{} {} B{}", function, bytes, ranks == 0 ? "" : fmt::format(" on {} ranks", ranks));
}

/// By number in collective_key(); a rank's own word.
std::map<std::uint16_t, int> communicator_sizes(const std::vector<std::string>& names) {
  std::map<std::uint16_t, int> sizes;
  for (const std::string& name : names) {
    if (const auto size = parse_communicator_size(name)) sizes[size->communicator] = size->ranks;
  }
  return sizes;
}

std::string algorithm_of(const NcclEvent& event) {
  const std::string how =
      event.algorithm.empty() ? "" : fmt::format("{} {}, ", event.algorithm, event.protocol);
  return fmt::format("{}{} channel{}, {}", how, event.channels, event.channels == 1 ? "" : "s",
                     event.transport.empty() ? "transport not seen" : event.transport);
}

}  // namespace

void NcclJoin::add(const NcclJoin& other) {
  joined += other.joined;
  events_without_kernel += other.events_without_kernel;
  events_alone += other.events_alone;
  kernels_without_event += other.kernels_without_event;
  unknown_kernels.insert(other.unknown_kernels.begin(), other.unknown_kernels.end());
  numbered += other.numbered;
  for (const auto& [what, how] : other.algorithms) algorithms[what].insert(how.begin(), how.end());
}

NcclJoin join_nccl_events(std::vector<Span>& spans, std::vector<std::string>& names, std::uint32_t first_step,
                          std::uint32_t last_step, std::uint32_t warmup) {
  NcclJoin join;
  const auto in_window = [=](const Span& span) { return span.step >= first_step && span.step <= last_step; };
  const auto counts = [=](const Span& span) { return in_window(span) && span.step >= warmup; };
  const std::map<std::uint16_t, int> sizes = communicator_sizes(names);
  const auto kind = [&](const std::string& function, const Span& span) {
    const auto size = sizes.find(CommunicatorMembers::number_of(span.correlation));
    return kind_of(function, span.bytes, size == sizes.end() || span.correlation == 0 ? 0 : size->second);
  };
  const NcclWaits waits_ns = take_nccl_waits(spans, names);
  std::vector<Event> events = take_events(spans, names);
  std::vector<Kernel> kernels = kernels_of(spans, names, events, join);
  if (events.empty()) {
    number(kernels, join);
    join.all_there_ns = all_there(waits_ns, spans);
    return join;
  }
  // Events that state when they ran are matched first.
  std::stable_partition(events.begin(), events.end(), KernelsByTime::is_timed);
  KernelsByTime by_time(kernels);
  std::vector<Span> added;
  for (const Event& event : events) {
    Kernel* const kernel = by_time.find(event);
    if (in_window(event.span)) {
      // A barrier is an all-reduce, a push is sends and receives.
      const bool name_stays =
          kernel != nullptr && (kernel->is_call || is_named_by_engine(name_of(*kernel->span, names)));
      const std::string what = name_stays ? kind(std::string(name_of(*kernel->span, names)), *kernel->span)
                                        : kind(event.what.function, event.span);
      join.algorithms[what].insert(algorithm_of(event.what));
    }
    if (kernel != nullptr) {
      kernel->events.push_back(&event);
      join.joined += counts(event.span);
    } else {
      (kernels.empty() ? join.events_alone : join.events_without_kernel) += counts(event.span);
      added.push_back(communication_of(event, names));
    }
  }
  for (Kernel& kernel : kernels) {
    // Those of a captured graph have the engine's key, and no events (probes/cuda).
    join.kernels_without_event +=
        kernel.events.empty() && kernel.span->correlation == 0 && counts(*kernel.span);
    apply(kernel, names, added);
  }
  spans.insert(spans.end(), added.begin(), added.end());
  join.all_there_ns = all_there(waits_ns, spans);
  return join;
}

Facts nccl_facts(const NcclJoin& join) {
  Facts facts;
  std::set<std::string> transports;
  for (const auto& [what, algorithms] : join.algorithms) {
    set_fact(facts, fact_key_of<"nccl.*">(what), fmt::format("{}", fmt::join(algorithms, "; ")));
    for (const std::string& nccl_algorithm : algorithms) transports.insert(nccl_algorithm.substr(nccl_algorithm.rfind(", ") + 2));
  }
  if (!transports.empty()) {
    set_fact(facts, fact_key<"nccl.transport">,
             std::vector<std::string>(transports.begin(), transports.end()));
  }
  set_count(facts, fact_key<"nccl.joined">, join.joined);
  set_count(facts, fact_key<"nccl.events_without_kernel">, join.events_without_kernel);
  set_count(facts, fact_key<"nccl.events_alone">, join.events_alone);
  set_count(facts, fact_key<"nccl.kernels_without_event">, join.kernels_without_event);
  set_count(facts, fact_key<"nccl.kernels_joined_by_order">, join.numbered);
  if (!join.unknown_kernels.empty()) {
    set_fact(facts, fact_key<"nccl.unknown_kernels">,
             std::vector<std::string>(join.unknown_kernels.begin(), join.unknown_kernels.end()));
  }
  return facts;
}

std::string nccl_algorithm_of(const Facts& facts, const std::string& function, std::uint64_t bytes, int ranks) {
  for (const int known_ranks : {ranks, 0}) {
    if (const auto nccl_algorithm = get_fact(facts, fact_key_of<"nccl.*">(kind_of(function, bytes, known_ranks))))
      return *nccl_algorithm;
  }
  return {};
}

}  // namespace ddbench::analyzer
