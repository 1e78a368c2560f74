#include "analyzer/predict/rebucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.h"

namespace ddbench::analyzer {
namespace {

/// A new bucket: up to which share of which recorded collective it reaches.
struct Cut {
  std::uint32_t collective = 0;
  double share = 1;  ///< of the collective's gradients that are in this bucket or earlier ones
};

/// The gradients of each collective that reduces some, by its place; empty where they are not known, or do not fill the collectives. A
/// hook halves the bytes on the wire, and shards of equal sizes are padded.
std::map<std::uint32_t, std::vector<double>> gradients_of(const StepRecording& recording) {
  constexpr double kElementBytes = 4;
  const double all = std::accumulate(recording.gradient_bytes.begin(), recording.gradient_bytes.end(), 0.0);
  double on_wire = 0;
  for (const StepCollective& one : recording.collectives) on_wire += reduces_gradients(one) ? one.bytes : 0;
  const double scale = on_wire < 0.75 * all ? 0.5 : 1;
  std::map<std::uint32_t, std::vector<double>> gradients;
  auto next = recording.gradient_bytes.begin();
  for (std::uint32_t c = 0; c < recording.collectives.size(); ++c) {
    if (!reduces_gradients(recording.collectives[c])) continue;
    const double bytes = recording.collectives[c].bytes;
    const double unit = recording.collectives[c].function == "reduce_scatter" ? kElementBytes * recording.shape.gpus() : 1;
    double held = 0;
    const auto padded = [&] { return std::ceil(held / unit) * unit; };
    for (; padded() < bytes && next != recording.gradient_bytes.end(); ++next) {
      gradients[c].push_back(*next);
      held += *next * scale;
    }
    if (padded() != bytes) return {};
  }
  if (next != recording.gradient_bytes.end()) return {};
  return gradients;
}

/// Shares of a recorded bucket at which new ones end where its gradients are not known: parts are even. Each holds the size that
/// closes it, so that a bucket which is hardly larger than that stays whole.
std::vector<double> parts_of(double bytes, double limit, double next_limit) {
  std::vector<double> shares;
  double first = 0;
  if (limit < next_limit && bytes >= 2 * limit) {
    first = limit / bytes;
    shares.push_back(first);
    limit = next_limit;
  }
  const double parts = std::max(1.0, std::floor((1 - first) * bytes / limit + 1e-9));
  for (double part = 1; part < parts; ++part) shares.push_back(first + (1 - first) * part / parts);
  shares.push_back(1);
  return shares;
}

/// The ends of buckets, filled as by PyTorch's DDP: a bucket is closed as soon as it holds its size. Whole
/// recorded buckets are joined; one that is larger than a new one is split.
std::vector<Cut> cuts_of(const std::vector<StepCollective>& collectives, double bucket_bytes, double first_bytes) {
  std::vector<Cut> cuts;
  double held = 0;
  std::optional<Cut> open;
  const auto limit = [&] { return cuts.empty() ? std::min(first_bytes, bucket_bytes) : bucket_bytes; };
  for (std::uint32_t c = 0; c < collectives.size(); ++c) {
    if (!reduces_gradients(collectives[c])) continue;
    const double bytes = collectives[c].bytes;
    std::vector<double> shares = {1};
    if (!open) shares = parts_of(bytes, limit(), bucket_bytes);
    for (std::size_t part = 0; part + 1 < shares.size(); ++part) cuts.push_back({c, shares[part]});
    held += bytes * (1 - (shares.size() > 1 ? shares[shares.size() - 2] : 0));
    open = Cut{c, 1};
    if (held < limit() * (1 - 1e-9)) continue;
    cuts.push_back(*std::exchange(open, std::nullopt));
    held = 0;
  }
  if (open) cuts.push_back(*open);
  return cuts;
}

/// The same of whole gradients.
std::vector<Cut> cuts_of(const std::map<std::uint32_t, std::vector<double>>& gradients, double bucket_bytes, double first_bytes) {
  std::vector<Cut> cuts;
  double held = 0;
  for (const auto& [collective, own] : gradients) {
    const double all = std::accumulate(own.begin(), own.end(), 0.0);
    double passed = 0;
    for (const double bytes : own) {
      held += bytes;
      passed += bytes;
      if (held < (cuts.empty() ? std::min(first_bytes, bucket_bytes) : bucket_bytes)) continue;
      cuts.push_back({collective, passed / all});
      held = 0;
    }
  }
  if (held > 0) cuts.push_back({gradients.rbegin()->first, 1});
  return cuts;
}

/// Whether the cuts are the recorded buckets.
bool are_recorded(const std::vector<Cut>& cuts, const std::vector<StepCollective>& collectives) {
  const auto buckets = std::count_if(collectives.begin(), collectives.end(), reduces_gradients);
  return std::cmp_equal(cuts.size(), buckets) &&
         std::all_of(cuts.begin(), cuts.end(), [](const Cut& cut) { return cut.share == 1; });
}

/// Rewrites the issues and waits of a rank's step.
class Rewriter {
 public:
  Rewriter(const StepRecording& from, const std::vector<std::optional<std::uint32_t>>& kept, const std::vector<Cut>& cuts,
           const std::vector<std::uint32_t>& place)
      : from_(from), kept_(kept), cuts_(cuts), place_(place) {}

  RankStep rewritten(const RankStep& step, std::size_t collectives) {
    RankStep result;
    result.duration_ns = step.duration_ns;
    result.backward_ns = step.backward_ns;
    result.start_delay_ns.assign(collectives, 0);
    result.end_share.assign(collectives, 1);
    since_ = 0;
    for (const StepEvent& event : step.events) add(event, step, result);
    return result;
  }

 private:
  void add(const StepEvent& event, const RankStep& step, RankStep& result) {
    const bool gradients = event.action != StepAction::kWork && reduces_gradients(from_.collectives[event.collective]);
    if (event.action == StepAction::kWork || !gradients) {
      StepEvent copy = event;
      if (event.action != StepAction::kWork) copy.collective = *kept_[event.collective];
      if (event.action == StepAction::kIssue) {
        result.start_delay_ns[copy.collective] = step.start_delay_ns[event.collective];
        result.end_share[copy.collective] = step.end_share[event.collective];
      }
      result.events.push_back(copy);
      return;
    }
    if (event.action == StepAction::kIssue) {
      issue(event.collective, step, result);
    } else {
      wait(event.collective, result);
    }
  }

  /// Buckets that end within the collective; gradients of it became ready evenly since the issue before.
  void issue(std::uint32_t collective, const RankStep& step, RankStep& result) {
    std::vector<StepEvent> tail(result.events.begin() + static_cast<std::ptrdiff_t>(since_), result.events.end());
    result.events.resize(since_);
    double work = 0;
    for (const StepEvent& event : tail) work += event.action == StepAction::kWork && event.work == WorkKind::kPass ? event.ns : 0;
    std::size_t at = 0;
    double done = 0;
    for (std::size_t cut = 0; cut < cuts_.size(); ++cut) {
      if (cuts_[cut].collective != collective) continue;
      for (; at < tail.size(); ++at) {
        StepEvent& event = tail[at];
        const bool pass = event.action == StepAction::kWork && event.work == WorkKind::kPass;
        const double more = cuts_[cut].share * work - done;
        if (pass && cuts_[cut].share < 1 && event.ns > more) {
          const StepEvent part = split_off(event, more);
          result.events.push_back(part);
          done += part.ns;
          break;
        }
        done += pass ? event.ns : 0;
        result.events.push_back(event);
      }
      result.events.push_back({StepAction::kIssue, WorkKind::kHost, place_[cut], 0});
      result.start_delay_ns[place_[cut]] = step.start_delay_ns[collective];
    }
    result.events.insert(result.events.end(), tail.begin() + static_cast<std::ptrdiff_t>(at), tail.end());
    since_ = result.events.size();
  }

  /// All buckets that end in the collective or before it; its gradients in a later bucket are waited for
  /// together with that bucket.
  void wait(std::uint32_t collective, RankStep& result) const {
    for (std::size_t cut = 0; cut < cuts_.size(); ++cut) {
      if (cuts_[cut].collective <= collective)
        result.events.push_back({StepAction::kWait, WorkKind::kHost, place_[cut], 0});
    }
  }

  const StepRecording& from_;
  const std::vector<std::optional<std::uint32_t>>& kept_;
  const std::vector<Cut>& cuts_;
  const std::vector<std::uint32_t>& place_;
  std::size_t since_ = 0;  ///< events behind the last issue of gradients
};

}  // namespace

bool reduces_gradients(const StepCollective& collective) {
  return collective.bucket >= 0 && (collective.function == "all_reduce" || collective.function == "reduce_scatter");
}

std::string why_too_many_buckets(const StepRecording& recording, double bucket_bytes) {
  constexpr double kMostBuckets = 16'384;
  if (!gradients_of(recording).empty()) return {};  // none is split
  double bytes = 0;
  for (const StepCollective& one : recording.collectives) bytes += reduces_gradients(one) ? one.bytes : 0;
  if (!(bytes / bucket_bytes > kMostBuckets)) return {};
  return fmt::format("--bucket-mb: {:.0f} buckets of gradients would be more than the {:.0f} that can be replayed", bytes / bucket_bytes, kMostBuckets);
}

StepRecording rebucketed(const StepRecording& recording, double bucket_bytes, double first_bytes) {
  if (const std::string why = why_too_many_buckets(recording, bucket_bytes); !why.empty()) throw Error(ErrorCode::kBadInput, why);
  const std::map<std::uint32_t, std::vector<double>> gradients = gradients_of(recording);
  const std::vector<Cut> cuts = gradients.empty() ? cuts_of(recording.collectives, bucket_bytes, first_bytes)
                                                  : cuts_of(gradients, bucket_bytes, first_bytes);
  if (cuts.empty() || !(bucket_bytes > 0) || !std::isfinite(bucket_bytes))
    throw Error(ErrorCode::kBadInput, "--bucket-mb: no collective of the recorded steps is known to carry gradients, or the size is not above 0");
  StepRecording result = recording;
  if (are_recorded(cuts, recording.collectives)) return result;
  result.collectives.clear();
  result.steps.clear();
  std::vector<std::optional<std::uint32_t>> kept(recording.collectives.size());
  std::vector<std::uint32_t> place(cuts.size());
  double before = 0;  // bytes of gradients in recorded collectives that were passed
  double taken = 0;   // and in new buckets
  for (std::uint32_t c = 0; c < recording.collectives.size(); ++c) {
    const StepCollective& old = recording.collectives[c];
    if (!reduces_gradients(old)) {
      kept[c] = static_cast<std::uint32_t>(result.collectives.size());
      result.collectives.push_back(old);
      continue;
    }
    for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
      if (cuts[cut].collective != c) continue;
      const double until = before + cuts[cut].share * old.bytes;
      place[cut] = static_cast<std::uint32_t>(result.collectives.size());
      result.collectives.push_back({old.function, until - taken, static_cast<int>(cut)});
      taken = until;
    }
    before += old.bytes;
  }
  const bool split = std::any_of(cuts.begin(), cuts.end(), [](const Cut& cut) { return cut.share < 1; });
  if (split && gradients.empty())
    result.notes.push_back("buckets smaller than the recorded ones: gradients of a recorded bucket are taken as ready evenly and as divisible; a layer "
        "that is larger than a bucket would stay whole, but the recorded steps do not show layers");
  else if (split)
    result.notes.push_back("buckets that end within recorded ones: gradients are taken as ready in the reverse order of their parameters, and the "
        "bytes of a recorded bucket as ready evenly");
  Rewriter rewriter(recording, kept, cuts, place);
  for (const RecordedStep& step : recording.steps) {
    RecordedStep copy{step.step, {}, {}};
    for (const RankStep& rank : step.ranks) copy.ranks.push_back(rewriter.rewritten(rank, result.collectives.size()));
    result.steps.push_back(std::move(copy));
  }
  return result;
}

}  // namespace ddbench::analyzer
