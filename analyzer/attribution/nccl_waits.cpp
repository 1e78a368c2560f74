#include "analyzer/attribution/nccl_waits.h"

#include <algorithm>

#include "core/nccl_event.h"

namespace ddbench::analyzer {

NcclWaits take_nccl_waits(std::vector<Span>& spans, const std::vector<std::string>& names) {
  NcclWaits waits_ns;
  std::erase_if(spans, [&](const Span& span) {
    const bool is_one = span.kind == SpanKind::kNcclEvent && span.name_id < names.size() && names[span.name_id] == kNcclInitialSync;
    if (is_one && span.correlation != 0 && span.end_ns > span.begin_ns) waits_ns[span.correlation] = span.duration_ns();
    return is_one;
  });
  return waits_ns;
}

AllThere all_there(const NcclWaits& waits_ns, const std::vector<Span>& spans) {
  AllThere all_there_ns;
  if (waits_ns.empty()) return all_there_ns;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::kCommunication) continue;
    const auto wait = waits_ns.find(span.correlation);
    if (wait == waits_ns.end()) continue;
    all_there_ns[span.correlation] = span.begin_ns + std::min(wait->second, span.duration_ns());
  }
  return all_there_ns;
}

void keep_nccl_waits(const AllThere& all_there_ns, std::vector<Span>& spans, std::vector<std::string>& names) {
  if (all_there_ns.empty()) return;
  const auto known = std::find(names.begin(), names.end(), kNcclInitialSync);
  const auto name_id = static_cast<std::uint32_t>(known - names.begin());
  if (known == names.end()) names.emplace_back(kNcclInitialSync);
  std::vector<Span> added;
  for (const Span& span : spans) {
    const auto at = span.kind == SpanKind::kCommunication ? all_there_ns.find(span.correlation) : all_there_ns.end();
    if (at == all_there_ns.end()) continue;
    Span wait = span;
    wait.kind = SpanKind::kNcclEvent;
    wait.name_id = name_id;
    wait.end_ns = at->second;
    added.push_back(wait);
  }
  spans.insert(spans.end(), added.begin(), added.end());
}

}  // namespace ddbench::analyzer
