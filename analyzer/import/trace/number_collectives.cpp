#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/import/trace/collective_names.h"
#include "analyzer/import/trace/job.h"
#include "core/name_table.h"

namespace ddbench::imports {
namespace {

// The order's place in its step, below the step's: 2^24 collectives a step.
constexpr unsigned kPlaceBits = 24;
constexpr std::size_t kMostGroups = 0xFFFF;

/// The collectives of one rank in one process group, in the order in which the rank issued them.
using Members = std::vector<const TraceCollective*>;

std::vector<Span> step_marks(const RankTrace& trace) {
  std::vector<Span> steps = trace.steps;
  std::sort(steps.begin(), steps.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  return steps;
}

/// The number of the last step that began before; 0 before the first.
std::uint64_t step_at(const std::vector<Span>& steps, std::int64_t at_ns) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), at_ns,
                                      [](std::int64_t ns, const Span& step) { return ns < step.begin_ns; });
  return static_cast<std::uint64_t>(after - steps.begin());
}

bool has_own_numbers(const Members& members) {
  std::set<std::uint64_t> seen;
  return std::all_of(members.begin(), members.end(), [&](const TraceCollective* collective) {
    return collective->sequence && *collective->sequence < (std::uint64_t{1} << 46) && seen.insert(*collective->sequence).second;
  });
}

class Numbering {
 public:
  explicit Numbering(TraceJob& job) : job_(job) {
    // A rank with one communicator may share it with a rank that has several.
    const bool is_any_unknown = std::any_of(job_.traces.begin(), job_.traces.end(),
                                            [](const RankTrace& trace) { return trace.collectives_of_unknown_group > 0; });
    for (RankTrace& trace : job_.traces) {
      std::map<std::string, Members> groups;
      for (const TraceCollective& collective : trace.collectives) {
        const bool is_known = collective.is_group_known && !(is_any_unknown && collective.group.empty());
        if (is_known && is_group_function(collective.function)) groups[collective.group].push_back(&collective);
      }
      for (auto& [name, members] : groups) {
        std::stable_sort(members.begin(), members.end(), [&](const TraceCollective* a, const TraceCollective* b) {
          const auto key = [&](const TraceCollective* of) {
            return std::tuple(of->enqueued_ns, trace.spans.spans[of->span].begin_ns);
          };
          return key(a) < key(b);
        });
        groups_[name].emplace(&trace, std::move(members));
      }
      steps_.emplace(&trace, step_marks(trace));
    }
  }

  void number() {
    std::uint16_t communicator = 0;
    for (auto& [name, ranks] : groups_) {
      if (++communicator > kMostGroups - 1) break;
      if (!number_group(communicator, ranks)) leave_out_begin(name, ranks);
      if (!agree(ranks)) withdraw(name, ranks);
    }
    for (RankTrace& trace : job_.traces) mark_lanes(trace);
  }

 private:
  using Ranks = std::map<RankTrace*, Members>;

  static Span& span_of(RankTrace& trace, const TraceCollective& collective) {
    return trace.spans.spans[collective.span];
  }

  /// False: the collectives before the first marked step have no numbers of their own, and some ranks recorded more of them.
  bool number_group(std::uint16_t communicator, Ranks& ranks) {
    const bool own = std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) { return has_own_numbers(rank.second); });
    std::set<std::size_t> before_steps;
    for (auto& [trace, members] : ranks) {
      const std::vector<Span>& steps = steps_.at(trace);
      before_steps.insert(count_before(steps, members));
      std::uint64_t step = 0;
      std::uint64_t place = 0;
      for (const TraceCollective* const collective : members) {
        const std::uint64_t now = step_at(steps, collective->enqueued_ns);
        if (std::exchange(step, now) != now) place = 0;
        const std::uint64_t ordered = (step << kPlaceBits) + ++place;
        span_of(*trace, *collective).correlation = collective_key(communicator, own ? *collective->sequence + 1 : ordered);
      }
      if (const int size = members.front()->group_size; size > 0)
        trace->spans.names.push_back(communicator_size_name({communicator, size}));
    }
    return own || before_steps.size() == 1 || begin_together(ranks);
  }

  /// What all ranks say alike of a call.
  using Call = std::pair<std::string_view, std::uint64_t>;
  static Call call_of(const RankTrace& trace, const TraceCollective& collective) {
    return {collective.function, collective.function == "all_reduce" ? trace.spans.spans[collective.span].bytes : 0};
  }

  /// Whether the surplus of the ranks that recorded more before the first step lies at their end: the others' calls are like their first
  /// ones, and would be no others.
  bool begin_together(const Ranks& ranks) const {
    constexpr std::size_t kMostSurplus = 64;
    std::vector<std::vector<Call>> calls;
    for (const auto& [trace, members] : ranks) {
      if (!steps_.at(trace).empty()) return false;
      calls.emplace_back();
      for (const TraceCollective* const collective : members) calls.back().push_back(call_of(*trace, *collective));
    }
    const auto longest = std::max_element(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return std::all_of(calls.begin(), calls.end(), [&](const std::vector<Call>& own) {
      const std::size_t surplus = longest->size() - own.size();
      if (surplus > kMostSurplus || own.empty()) return false;
      const auto fits = [&](std::size_t from) { return std::equal(own.begin(), own.end(), longest->begin() + static_cast<std::ptrdiff_t>(from)); };
      bool fits_later = false;
      for (std::size_t from = 1; from <= surplus && !fits_later; ++from) fits_later = fits(from);
      return fits(0) && !fits_later;
    });
  }

  static std::size_t count_before(const std::vector<Span>& steps, const Members& members) {
    return static_cast<std::size_t>(std::count_if(members.begin(), members.end(), [&](const TraceCollective* collective) {
      return step_at(steps, collective->enqueued_ns) == 0;
    }));
  }

  /// There, one rank's n-th collective may be another's n+1-th.
  void leave_out_begin(const std::string& name, Ranks& ranks) {
    for (auto& [trace, members] : ranks) {
      for (const TraceCollective* const collective : members) {
        if (step_at(steps_.at(trace), collective->enqueued_ns) == 0) span_of(*trace, *collective).correlation = 0;
      }
    }
    job_.notes.push_back(fmt::format("ranks recorded different numbers of collectives{} {}, so that these could not be joined: waits for "
                                     "peers are not known there",
                                     name.empty() ? std::string() : fmt::format(" of process group {}", name),
                                     steps_.begin()->second.empty() ? "and the traces mark no steps" : "before the first marked step"));
  }

  /// Whether all ranks agree about each key.
  static bool agree(const Ranks& ranks) {
    std::unordered_map<std::uint64_t, Call> known;
    for (const auto& [trace, members] : ranks) {
      for (const TraceCollective* const collective : members) {
        const Span& span = trace->spans.spans[collective->span];
        if (span.correlation == 0) continue;
        const Call call = call_of(*trace, *collective);
        if (known.try_emplace(span.correlation, call).first->second != call) return false;
      }
    }
    return true;
  }

  void withdraw(const std::string& name, Ranks& ranks) {
    for (auto& [trace, members] : ranks) {
      for (const TraceCollective* const collective : members) span_of(*trace, *collective).correlation = 0;
    }
    job_.notes.push_back(fmt::format(
        "the ranks' collectives{} differ in their order, function or size, so that they could not be joined: waits for "
        "peers are not known there",
        name.empty() ? std::string() : fmt::format(" of process group {}", name)));
  }

  /// What has a key, and what is sent and received, is as the GPU probe records it. What could not be joined must not be
  /// numbered by its order later.
  static void mark_lanes(RankTrace& trace) {
    if (trace.compute != ComputeSource::kKernels) return;
    for (const TraceCollective& collective : trace.collectives) {
      Span& span = trace.spans.spans[collective.span];
      if (span.correlation != 0) span.lane = Lane::kDeviceCommunication;
    }
  }

  TraceJob& job_;
  std::map<std::string, Ranks> groups_;
  std::map<const RankTrace*, std::vector<Span>> steps_;
};

}  // namespace

void number_collectives(TraceJob& job) {
  Numbering(job).number();
}

}  // namespace ddbench::imports
