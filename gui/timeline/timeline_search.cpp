#include "gui/timeline/timeline_search.h"

#include <QString>
#include <QStringList>
#include <algorithm>

namespace ddbench::gui {
namespace {

constexpr const char* kKindWord = "kind:";
constexpr qsizetype kFewestLetters = 4;

bool contains(std::string_view text, const QString& part) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())).contains(part, Qt::CaseInsensitive);
}

/// A few letters are in too many kinds.
bool begins(std::string_view kind, const QString& part) {
  return part.size() >= kFewestLetters &&
         QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())).startsWith(part, Qt::CaseInsensitive);
}

}  // namespace

SpanFilter search_spans(const Timeline& timeline, const std::string& text) {
  SpanFilter filter;
  QStringList words = QString::fromStdString(text).split(QLatin1Char(' '), Qt::SkipEmptyParts);
  QStringList kinds;
  for (const QString& word : words) {
    if (word.startsWith(QLatin1String(kKindWord), Qt::CaseInsensitive)) kinds << word.mid(5);
  }
  words.removeIf([](const QString& word) { return word.startsWith(QLatin1String(kKindWord), Qt::CaseInsensitive); });
  if (words.empty() && kinds.empty()) return filter;
  const QString name = words.join(QLatin1Char(' '));
  for (int k = 0; k < kSpanKindCount; ++k) {
    const std::string_view kind = to_string(static_cast<SpanKind>(k));
    const auto asked = [&](const QString& part) { return contains(kind, part); };
    const auto i = static_cast<std::size_t>(k);
    filter.kinds[i] = kinds.empty() || std::any_of(kinds.begin(), kinds.end(), asked);
    filter.whole_kinds[i] = kinds.empty() ? begins(kind, name) : filter.kinds[i] && name.isEmpty();
  }
  std::array<bool, kSpanKindCount> present{};
  for (const TimelineLane& lane : timeline.lanes) {
    for (const SpanKind kind : lane.kinds) present[static_cast<std::size_t>(kind)] = true;
  }
  for (std::size_t k = 0; k < present.size(); ++k) filter.found += present[k] && filter.whole_kinds[k] ? 1 : 0;
  for (const std::string& each : timeline.names) {
    filter.names.push_back(!name.isEmpty() && contains(each, name));
    filter.found += filter.names.back() ? 1 : 0;
  }
  return filter;
}

std::unique_ptr<SpanPlace> next_match(const Timeline& timeline, const SpanFilter& filter,
                                      std::int64_t after_ns, bool backwards) {
  std::unique_ptr<SpanPlace> best;
  const auto better = [&](std::int64_t begin) {
    if (!best) return true;
    return backwards ? begin > begin_of(timeline, *best) : begin < begin_of(timeline, *best);
  };
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    for (std::size_t c = 0; c < timeline.lanes[lane].classes.size(); ++c) {
      const SpanClass& each = timeline.lanes[lane].classes[c];
      const auto& begins = each.begin_ns;
      if (backwards) {
        auto i = static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), after_ns) -
                                          begins.begin());
        while (i-- > 0 && better(begins[i])) {
          if (!filter.matches(each.name[i], each.kind[i])) continue;
          best = std::make_unique<SpanPlace>(SpanPlace{lane, c, i});
          break;
        }
      } else {
        auto i = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), after_ns) -
                                          begins.begin());
        for (; i < begins.size() && better(begins[i]); ++i) {
          if (!filter.matches(each.name[i], each.kind[i])) continue;
          best = std::make_unique<SpanPlace>(SpanPlace{lane, c, i});
          break;
        }
      }
    }
  }
  return best;
}

}  // namespace ddbench::gui
