#include "reports/formats/perfetto/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/formats/perfetto/collective_meetings.h"

namespace ddbench::reports::trace {
namespace {

constexpr int kStepsGroup = 0;
constexpr int kTracksOfAGroup = 100;

/// A track while it is filled: the ends of its open slices.
struct OpenTrack {
  Track track;
  std::vector<std::int64_t> open_ends_ns;

  bool takes(const Slice& slice) {
    while (!open_ends_ns.empty() && open_ends_ns.back() <= slice.begin_ns) open_ends_ns.pop_back();
    return open_ends_ns.empty() || slice.end_ns <= open_ends_ns.back();
  }
};

int group_of(const Span& span) {
  return span.kind == SpanKind::kStep ? kStepsGroup : 1 + static_cast<int>(span.lane);
}

std::string group_name(int group) {
  return group == kStepsGroup ? "steps" : std::string(to_string(static_cast<Lane>(group - 1)));
}

std::vector<Track> split(int group, std::vector<Slice> slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  std::vector<OpenTrack> open;
  for (const Slice& slice : slices) {
    auto track = std::find_if(open.begin(), open.end(), [&](OpenTrack& each) { return each.takes(slice); });
    if (track == open.end()) {
      const int position = static_cast<int>(open.size());
      std::string name =
          position == 0 ? group_name(group) : fmt::format("{} {}", group_name(group), position + 1);
      track = open.insert(open.end(),
                          OpenTrack{Track{std::move(name), group * kTracksOfAGroup + position, {}}, {}});
    }
    track->track.slices.push_back(slice);
    track->open_ends_ns.push_back(slice.end_ns);
  }
  std::vector<Track> tracks;
  for (OpenTrack& each : open) tracks.push_back(std::move(each.track));
  return tracks;
}

}  // namespace

std::vector<Track> tracks_of(std::span<const Span> spans, const ClockMap& clock) {
  std::map<int, std::vector<Slice>> groups;
  for (const Span& span : spans) {
    if (!can_be_shown(span)) continue;
    const std::int64_t begin_ns = clock.to_reference(span.begin_ns);
    groups[group_of(span)].push_back({&span, begin_ns, std::max(begin_ns, clock.to_reference(span.end_ns))});
  }
  std::vector<Track> tracks;
  for (auto& [group, slices] : groups) {
    for (Track& track : split(group, std::move(slices))) tracks.push_back(std::move(track));
  }
  return tracks;
}

}  // namespace ddbench::reports::trace
