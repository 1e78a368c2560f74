// What a TimelineView finds: matches of a search, and stragglers.

#include <QString>
#include <algorithm>
#include <memory>

#include "gui/timeline/timeline_view.h"

namespace ddbench::gui {
namespace {

/// The communication with which it came last.
std::unique_ptr<SpanPlace> straggling_span(const Timeline& timeline, const Straggler& straggler) {
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    const TimelineLane& own = timeline.lanes[lane];
    if (own.rank != straggler.rank) continue;
    for (std::size_t c = 0; c < own.classes.size(); ++c) {
      const SpanClass& each = own.classes[c];
      const auto at = std::lower_bound(each.begin_ns.begin(), each.begin_ns.end(), straggler.at_ns);
      for (auto i = static_cast<std::size_t>(at - each.begin_ns.begin());
           i < each.size() && each.begin_ns[i] == straggler.at_ns; ++i) {
        if (each.kind[i] == SpanKind::kCommunication) return std::make_unique<SpanPlace>(SpanPlace{lane, c, i});
      }
    }
  }
  return nullptr;
}

}  // namespace

int TimelineView::search(const QString& text) {
  filter_ = search_spans(*timeline_, text.toStdString());
  repaint_scene();
  return filter_.found;
}

bool TimelineView::go_to_match(bool backwards) {
  if (!filter_.is_active()) return false;
  const auto place = next_match(*timeline_, filter_, look_from(backwards), backwards);
  if (place) reveal(*place);
  return place != nullptr;
}

bool TimelineView::go_to_straggler(bool backwards) {
  std::int64_t from = look_from(backwards);
  while (const Straggler* found = next_straggler(timeline_->stragglers, from, backwards)) {
    if (const auto place = straggling_span(*timeline_, *found)) {
      reveal(*place);
      return true;
    }
    from = found->at_ns;
  }
  return false;
}

const Straggler* TimelineView::selected_straggler() const {
  if (!selected_) return nullptr;
  const int rank = timeline_->lanes[selected_->lane].rank;
  const std::int64_t at = begin_of(*timeline_, *selected_);
  const auto found = std::find_if(timeline_->stragglers.begin(), timeline_->stragglers.end(),
                                  [&](const Straggler& each) { return each.rank == rank && each.at_ns == at; });
  return found == timeline_->stragglers.end() ? nullptr : &*found;
}

std::int64_t TimelineView::look_from(bool backwards) const {
  if (selected_) return begin_of(*timeline_, *selected_);
  return static_cast<std::int64_t>(backwards ? end_ns_ : begin_ns_) - (backwards ? 0 : 1);
}

void TimelineView::reveal(const SpanPlace& place) {
  const auto begin = static_cast<double>(begin_of(*timeline_, place));
  const double length = static_cast<double>(end_of(*timeline_, place)) - begin;
  double window = end_ns_ - begin_ns_;
  // Near enough that the span can be seen.
  if (length / window * plot().width() < kOwnRectangle)
    window = std::max(length * plot().width() / 40, kNarrowestWindow_ns);
  show_window(begin + length / 2 - window / 2, begin + length / 2 + window / 2);
  if (!timeline_->nodes.empty()) collapse(layout_.node_of_lane(*timeline_, place.lane), false);
  const double top = lane_top(place.lane);
  if (top < plot().top() || top + row_height() > plot().bottom()) scroll_lanes(top - plot().center().y());
  select(place);
}

}  // namespace ddbench::gui
