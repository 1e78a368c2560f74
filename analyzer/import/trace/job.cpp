#include "analyzer/import/trace/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "analyzer/attribution/communicators.h"
#include "core/error.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

namespace fs = std::filesystem;

constexpr const char* kApart = "import each job, and each recorded window, by itself";
// Clocks of the machines of a cluster rarely differ by more.
constexpr std::int64_t kMostApart_ns = 60'000'000'000;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", file.string(), why), 0, file.string());
}

std::pair<std::int64_t, std::int64_t> window_of(const RankTrace& trace) {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  for (const std::vector<Span>* const spans : {&trace.spans.spans, &trace.steps}) {
    for (const Span& span : *spans) {
      begin_ns = std::min(begin_ns, span.begin_ns);
      end_ns = std::max(end_ns, span.end_ns);
    }
  }
  return {begin_ns, end_ns};
}

void shift(Span& span, std::int64_t first_ns, const fs::path& file) {
  std::int64_t end_ns = 0;
  if (__builtin_sub_overflow(span.end_ns, first_ns, &end_ns) || !is_time(end_ns)) {
    refuse(file, fmt::format("an event ends {:.3g} s after the first one begins: its times are damaged",
                             static_cast<double>(span.end_ns) / 1e9 - static_cast<double>(first_ns) / 1e9));
  }
  span.begin_ns -= first_ns;
  span.end_ns = end_ns;
}

int rank_of(const RankTrace& trace, bool is_only_one, std::vector<std::string>& notes) {
  if (trace.info.rank) return *trace.info.rank;
  const std::optional<int> named = rank_in_path(trace.file);
  if (!named && !is_only_one) {
    refuse(trace.file, "it does not say which rank it is of, and its name does not either: name the files rank0.json, "
                       "rank1.json, ...");
  }
  notes.push_back(named ? fmt::format("{} does not say its rank: taken as rank {} by its name",
                                      trace.file.filename().string(), *named)
                        : fmt::format("{} does not say its rank: taken as rank 0", trace.file.filename().string()));
  return named.value_or(0);
}

/// Each must agree with the first that states a value.
template <typename Get>
void check_alike(const std::vector<RankTrace>& traces, const char* what, const Get& get) {
  const RankTrace* first = nullptr;
  for (const RankTrace& trace : traces) {
    const std::string value = get(trace);
    if (value.empty()) continue;
    if (first == nullptr) first = &trace;
    if (value == get(*first)) continue;
    refuse(trace.file, fmt::format("it is not of the same job as {}: {} is {} here and {} there; {}",
                                   first->file.string(), what, value, get(*first), kApart));
  }
}

void check_one_job(const std::vector<RankTrace>& traces) {
  check_alike(traces, "the number of ranks", [](const RankTrace& trace) {
    return trace.info.world_size ? std::to_string(*trace.info.world_size) : std::string();
  });
  check_alike(traces, "the backend", [](const RankTrace& trace) { return trace.info.backend; });
  check_alike(traces, "NCCL's version", [](const RankTrace& trace) { return trace.info.nccl_version; });
  check_alike(traces, "what is recorded", [](const RankTrace& trace) {
    return std::string(trace.compute == ComputeSource::kKernels     ? "kernels"
                       : trace.compute == ComputeSource::kOperators ? "operators on the CPU"
                                                                    : "communication alone");
  });
  std::map<std::string, std::pair<int, const RankTrace*>> groups;
  for (const RankTrace& trace : traces) {
    for (const auto& [name, size] : trace.info.groups) {
      const auto& [known, where] = groups.try_emplace(name, size, &trace).first->second;
      if (known == size) continue;
      refuse(trace.file, fmt::format("it is not of the same job as {}: process group {} has {} ranks here and {} there; {}",
                                     where->file.string(), name, size, known, kApart));
    }
  }
}

/// The trace that begins last and the one that ends first.
struct Extremes {
  const RankTrace* latest = nullptr;
  const RankTrace* earliest = nullptr;
  std::int64_t last_begin_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t first_end_ns = std::numeric_limits<std::int64_t>::max();

  /// Negative: all overlap.
  std::int64_t gap_ns() const {
    std::int64_t gap_ns = 0;
    return __builtin_sub_overflow(last_begin_ns, first_end_ns, &gap_ns) ? std::numeric_limits<std::int64_t>::max() : gap_ns;
  }
  [[noreturn]] void refuse_gap() const {
    refuse(latest->file, fmt::format("it begins {:.3f} s after {} ends: they are not of one recording; {}",
                                     static_cast<double>(gap_ns()) / 1e9, earliest->file.string(), kApart));
  }
};

Extremes extremes_of(const std::vector<RankTrace>& traces) {
  Extremes extremes;
  for (const RankTrace& trace : traces) {
    const std::pair<std::int64_t, std::int64_t> window = window_of(trace);
    if (extremes.latest == nullptr || window.first > extremes.last_begin_ns) {
      extremes.latest = &trace;
      extremes.last_begin_ns = window.first;
    }
    if (extremes.earliest == nullptr || window.second < extremes.first_end_ns) {
      extremes.earliest = &trace;
      extremes.first_end_ns = window.second;
    }
  }
  return extremes;
}

void check_one_time(const std::vector<RankTrace>& traces) {
  const Extremes extremes = extremes_of(traces);
  if (extremes.gap_ns() > kMostApart_ns) extremes.refuse_gap();
}

/// Whether it took part in a collective with one of the others.
bool is_joined(const RankTrace& trace, const std::vector<RankTrace>& traces) {
  std::unordered_set<std::uint64_t> keys;
  for (const TraceCollective& collective : trace.collectives) keys.insert(trace.spans.spans[collective.span].correlation);
  keys.erase(0);
  return std::any_of(traces.begin(), traces.end(), [&](const RankTrace& other) {
    return &other != &trace && std::any_of(other.collectives.begin(), other.collectives.end(), [&](const TraceCollective& collective) {
             return keys.contains(other.spans.spans[collective.span].correlation);
           });
  });
}

void note_missing(TraceJob& job) {
  if (static_cast<int>(job.ranks.size()) == job.world_size) return;
  std::vector<int> missing;
  for (int rank = 0; rank < job.world_size; ++rank) {
    if (!std::binary_search(job.ranks.begin(), job.ranks.end(), rank)) missing.push_back(rank);
  }
  job.notes.push_back(fmt::format(
      "the traces of {} of {} ranks are here, those of ranks {} are not: who waited for these is not known",
      job.ranks.size(), job.world_size, analyzer::ranks_in_words(missing)));
}

}  // namespace

TraceJob put_together(std::vector<RankTrace> traces) {
  TraceJob job;
  check_one_job(traces);
  std::map<int, RankTrace> by_rank;
  const bool is_only_one = traces.size() == 1;
  for (RankTrace& trace : traces) {
    const int rank = rank_of(trace, is_only_one, job.notes);
    const auto [place, is_new] = by_rank.try_emplace(rank);
    if (!is_new) {
      refuse(trace.file, fmt::format("it is of rank {}, and so is {}: {}", rank, place->second.file.string(), kApart));
    }
    place->second = std::move(trace);
  }
  for (auto& [rank, trace] : by_rank) {
    job.world_size = std::max(job.world_size, std::max(rank + 1, trace.info.world_size.value_or(1)));
    job.world_size_is_known = job.world_size_is_known || trace.info.world_size.has_value();
    job.ranks.push_back(rank);
    for (std::string& note : trace.notes) {
      if (std::find(job.notes.begin(), job.notes.end(), note) == job.notes.end()) job.notes.push_back(std::move(note));
    }
    job.traces.push_back(std::move(trace));
  }
  check_one_time(job.traces);
  note_missing(job);
  return job;
}

void keep_common_steps(TraceJob& job) {
  std::map<std::uint64_t, std::size_t> counts;
  for (const RankTrace& trace : job.traces) {
    for (const Span& step : trace.steps) ++counts[step.bytes];
  }
  const auto is_left_out = [&](const Span& step) { return counts.at(step.bytes) < job.traces.size(); };
  std::size_t left_out = 0;
  std::size_t kept = 0;
  for (RankTrace& trace : job.traces) {
    left_out += std::erase_if(trace.steps, is_left_out);
    kept += trace.steps.size();
  }
  if (!counts.empty() && kept == 0) {
    refuse(job.traces.front().file,
           fmt::format("no step (ProfilerStep#) is in the traces of all ranks; the first in any is {}, the last {}: {}",
                       counts.begin()->first, counts.rbegin()->first, kApart));
  }
  if (left_out > 0) job.notes.emplace_back("steps that only some ranks recorded were left out");
}

void check_joined(const TraceJob& job) {
  const Extremes extremes = extremes_of(job.traces);
  if (extremes.gap_ns() < 0) return;
  if (!is_joined(*extremes.latest, job.traces) || !is_joined(*extremes.earliest, job.traces)) extremes.refuse_gap();
}

void shift_to_begin(TraceJob& job) {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  for (const RankTrace& trace : job.traces) first_ns = std::min(first_ns, window_of(trace).first);
  for (RankTrace& trace : job.traces) {
    for (std::vector<Span>* const spans : {&trace.spans.spans, &trace.steps}) {
      for (Span& span : *spans) shift(span, first_ns, trace.file);
    }
    for (TraceCollective& collective : trace.collectives) collective.enqueued_ns = add_ns(collective.enqueued_ns, -first_ns);
  }
}

}  // namespace ddbench::imports
