#include "reports/formats/perfetto/lanes.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "core/program/device_span.h"

namespace ddbench::reports::trace {
namespace {

constexpr int kStepsGroup = 0;
constexpr int kTracksOfAGroup = 1000;

int group_of(const Span& span) {
  return span.kind == SpanKind::kStep ? kStepsGroup : 1 + static_cast<int>(span.lane);
}

std::string track_name(int group, std::uint32_t queue, std::size_t position) {
  const std::string_view name = group == kStepsGroup ? "steps" : to_string(static_cast<Lane>(group - 1));
  const std::string title = std::string(name) + queue_title(queue);
  return position == 0 ? title : fmt::format("{} {}", title, position + 1);
}

}  // namespace

bool Track::take(const Slice& slice) {
  if (!is_empty_ && slice.begin_ns < last_begin_ns_) return false;
  while (!open_ends_ns_.empty() && open_ends_ns_.back() <= slice.begin_ns) open_ends_ns_.pop_back();
  if (!open_ends_ns_.empty() && slice.end_ns > open_ends_ns_.back()) return false;
  open_ends_ns_.push_back(slice.end_ns);
  last_begin_ns_ = slice.begin_ns;
  is_empty_ = false;
  return true;
}

Tracks::Place Tracks::place(const Slice& slice) {
  const int group = group_of(slice.span);
  const std::uint32_t queue = group == kStepsGroup ? 0 : slice.span.reserved;
  std::vector<Track>& tracks = groups_[{group, queue}];
  for (Track& track : tracks) {
    if (track.take(slice)) return {track};
  }
  const std::size_t position = tracks.size();
  Track& track = tracks.emplace_back(track_name(group, queue, position), group * kTracksOfAGroup + tracks_of_group_[group]++);
  track.take(slice);
  return {track, true};
}

}  // namespace ddbench::reports::trace
