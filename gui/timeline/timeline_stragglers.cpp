#include "gui/timeline/timeline_stragglers.h"

#include <algorithm>

namespace ddbench::gui {

void Arrivals::add(const Span& span, int rank, std::int64_t begin_ns) {
  if (span.kind != SpanKind::kCommunication || span.correlation == 0) return;
  const auto [found, is_new] = collectives_.try_emplace(span.correlation);
  Collective& own = found->second;
  if (!is_new && own.newest.rank == rank) {
    own.newest.at_ns = std::min(own.newest.at_ns, begin_ns);
    return;
  }
  if (!is_new) take_newest(own);
  own.newest = {begin_ns, rank, span.step};
}

void Arrivals::take_newest(Collective& collective) {
  const Arrival& newest = collective.newest;
  if (++collective.ranks == 1 || newest.at_ns >= collective.last.at_ns) {
    collective.before_ns = collective.ranks == 1 ? newest.at_ns : collective.last.at_ns;
    collective.last = newest;
  } else if (collective.ranks == 2 || newest.at_ns > collective.before_ns) {
    collective.before_ns = newest.at_ns;
  }
}

std::vector<Straggler> Arrivals::finish(std::int64_t resolution_ns) {
  std::vector<Straggler> found;
  for (auto& [key, each] : collectives_) {
    take_newest(each);
    const std::int64_t caused = each.last.at_ns - each.before_ns;
    if (each.ranks > 1 && caused > resolution_ns)
      found.push_back({each.last.at_ns, caused, each.last.rank, each.last.step});
  }
  collectives_.clear();
  std::sort(found.begin(), found.end(), [](const Straggler& a, const Straggler& b) {
    return a.caused_ns != b.caused_ns ? a.caused_ns > b.caused_ns : a.at_ns < b.at_ns;
  });
  if (found.size() > kMostStragglers) found.resize(kMostStragglers);
  std::sort(found.begin(), found.end(), [](const Straggler& a, const Straggler& b) { return a.at_ns < b.at_ns; });
  return found;
}

const Straggler* next_straggler(const std::vector<Straggler>& stragglers, std::int64_t after_ns, bool backwards) {
  if (backwards) {
    const auto at = std::lower_bound(stragglers.begin(), stragglers.end(), after_ns,
                                     [](const Straggler& each, std::int64_t ns) { return each.at_ns < ns; });
    return at == stragglers.begin() ? nullptr : &*(at - 1);
  }
  const auto at = std::upper_bound(stragglers.begin(), stragglers.end(), after_ns,
                                   [](std::int64_t ns, const Straggler& each) { return ns < each.at_ns; });
  return at == stragglers.end() ? nullptr : &*at;
}

}  // namespace ddbench::gui
