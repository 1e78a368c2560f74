#include "harness/launch/transfer/sampled_spool.h"

#include <algorithm>
#include <iterator>

#include "analyzer/attribution/summarize_step.h"

namespace ddbench::launch {
namespace {

constexpr std::uint32_t kOneIn = 16;
constexpr std::size_t kSlowerThan = 31;
constexpr std::int64_t kLatest_ns = 2'000'000'000;  // CUPTI's buffers are requested four times as often
constexpr std::size_t kSpansAtOnce = 1u << 16;      // 3 MB of a spool that has grown meanwhile
constexpr std::uint32_t kReducedId = 0;             // names that the rank gave come behind it

}  // namespace

bool StepSampler::wants(std::uint32_t step, std::int64_t duration_ns) {
  const bool is_slow = latest_ns_.size() == kSlowerThan &&
                       duration_ns > *std::max_element(latest_ns_.begin(), latest_ns_.end());
  latest_ns_.push_back(duration_ns);
  if (latest_ns_.size() > kSlowerThan) latest_ns_.pop_front();
  return is_slow || step % kOneIn == measured_from_ % kOneIn;
}

SampledSpool::SampledSpool(const std::filesystem::path& spool, const std::filesystem::path& reduced,
                           const std::string& run_id, int rank, StepSampler sampler)
    : reader_(spool), writer_(reduced, rank, run_id), sampler_(sampler) {
  const std::string name(analyzer::kReducedName);
  writer_.write_names(std::span(&name, 1));
}

void SampledSpool::follow(bool is_rest) {
  if (ended_) return;
  host::SpoolBatch batch;
  do {
    batch = reader_.read(kSpansAtOnce);
    ended_ = ended_ || batch.ended;
    take(batch);
    while (!pending_.empty() && (is_rest || ended_ || is_complete(pending_.begin()))) {
      write(pending_.begin());
      pending_.erase(pending_.begin());
    }
  } while (!batch.spans.empty());
  if (ended_) writer_.write_end();
}

void SampledSpool::take(host::SpoolBatch& batch) {
  writer_.write_names(batch.new_names);
  for (host::Scalar& scalar : batch.scalars) ++scalar.name_id;
  writer_.write_scalars(batch.scalars);
  std::vector<Span> unreduced;
  for (Span& span : batch.spans) {
    ++span.name_id;
    newest_ns_ = std::max(newest_ns_, span.end_ns);
    if (span.step == kNoStep || span.step < first_pending_) {
      unreduced.push_back(span);
    } else {
      hold(span);
    }
  }
  if (!unreduced.empty()) writer_.write_spans(unreduced);
  const std::uint64_t lost = batch.dropped + batch.invalid;
  if (lost != dropped_) writer_.write_dropped(lost);
  dropped_ = lost;
}

void SampledSpool::hold(const Span& span) {
  PendingStep& step = pending_[span.step];
  step.spans.push_back(span);
  if (span.kind != SpanKind::kStep) return;
  step.begin_ns = span.begin_ns;
  step.end_ns = span.end_ns;
}

/// A step whose own span was dropped is complete when the next one is.
bool SampledSpool::is_complete(Steps::const_iterator step) const {
  if (step->second.end_ns == 0) {
    ++step;
    return step != pending_.end() && is_complete(step);
  }
  return newest_ns_ - step->second.end_ns > kLatest_ns;
}

void SampledSpool::write(Steps::const_iterator step) {
  const auto& [number, recorded] = *step;
  first_pending_ = number + 1;
  const bool is_whole = sampler_.wants(number, recorded.end_ns - recorded.begin_ns);
  const auto reduced =
      is_whole ? std::nullopt : analyzer::summarize_step(recorded.spans, neighbours_of(step), kReducedId);
  writer_.write_spans(reduced ? *reduced : recorded.spans);
  before_ = recorded.spans;
}

std::vector<Span> SampledSpool::neighbours_of(Steps::const_iterator step) const {
  std::vector<Span> neighbours = before_;
  if (const auto next = std::next(step); next != pending_.end()) {
    neighbours.insert(neighbours.end(), next->second.spans.begin(), next->second.spans.end());
  }
  return neighbours;
}

}  // namespace ddbench::launch
