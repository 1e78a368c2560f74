#include "analyzer/finalize/kernel_totals.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "analyzer/attribution/summarize_step.h"
#include "core/span_limits.h"

namespace ddbench::analyzer {
namespace {

struct Total {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
};

std::set<std::uint32_t> reduced_steps_in(std::span<const Span> spans, std::span<const std::string> names,
                                         const StepRange& range) {
  const auto id =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), kReducedName) - names.begin());
  std::set<std::uint32_t> steps;
  if (id == names.size()) return steps;
  for (const Span& span : spans) {
    if (span.name_id == id && range.holds(span.step)) steps.insert(span.step);
  }
  return steps;
}

}  // namespace

void KernelTotals::add(std::span<const Span> spans, std::span<const std::string> names,
                       const StepRange& range) {
  const std::set<std::uint32_t> reduced = reduced_steps_in(spans, names, range);
  reduced_steps_ += reduced.size();
  // By number first: a name is looked up once a rank and range, not once a span.
  const std::size_t unknown = names.size();
  std::vector<Total> totals((names.size() + 1) * kSpanKindCount);
  for (const Span& span : spans) {
    const bool has_own_row = span.kind == SpanKind::kStep || span.kind == SpanKind::kCommunication;
    if (has_own_row || !range.holds(span.step) || span.end_ns < span.begin_ns) continue;
    if (reduced.contains(span.step)) continue;
    const std::size_t name = std::min<std::size_t>(span.name_id, unknown);
    Total& total = totals[name * kSpanKindCount + static_cast<std::size_t>(span.kind)];
    ++total.count;
    total.total_ns = add_ns(total.total_ns, span.duration_ns());
    total.max_ns = std::max(total.max_ns, span.duration_ns());
  }
  for (std::size_t place = 0; place < totals.size(); ++place) {
    if (totals[place].count == 0) continue;
    const std::size_t name = place / kSpanKindCount;
    const auto kind = static_cast<SpanKind>(place % kSpanKindCount);
    store::KernelRecord& record = totals_[{name == unknown ? "unknown" : names[name], kind}];
    record.count += totals[place].count;
    record.total_ns = add_ns(record.total_ns, totals[place].total_ns);
    record.max_ns = std::max(record.max_ns, totals[place].max_ns);
  }
}

void KernelTotals::add(const KernelTotals& other) {
  reduced_steps_ += other.reduced_steps_;
  for (const auto& [key, total] : other.totals_) {
    store::KernelRecord& record = totals_[key];
    record.count += total.count;
    record.total_ns = add_ns(record.total_ns, total.total_ns);
    record.max_ns = std::max(record.max_ns, total.max_ns);
  }
}

std::vector<store::KernelRecord> KernelTotals::records() const {
  std::vector<store::KernelRecord> records;
  for (const auto& [key, total] : totals_) {
    records.push_back(total);
    records.back().name = key.first;
    records.back().kind = to_string(key.second);
  }
  std::stable_sort(
      records.begin(), records.end(),
      [](const store::KernelRecord& a, const store::KernelRecord& b) { return a.total_ns > b.total_ns; });
  return records;
}

}  // namespace ddbench::analyzer
