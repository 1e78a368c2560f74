#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "gui/timeline/timeline.h"

namespace ddbench::gui {

/// Which spans a search finds.
struct SpanFilter {
  std::vector<bool> names;                         ///< by name; empty: there is no search
  std::array<bool, kSpanKindCount> kinds{};        ///< of spans found by their name
  std::array<bool, kSpanKindCount> whole_kinds{};  ///< whose spans are all found
  int found = 0;                                   ///< names and whole kinds

  bool is_active() const noexcept { return !names.empty(); }
  bool matches(std::uint32_t name, SpanKind kind) const {
    const auto k = static_cast<std::size_t>(kind);
    return whole_kinds[k] || (kinds[k] && names[name]);
  }
};

/// Spans whose name contains the text, ignoring case, and all of a kind that begins with it ("forw", four letters or more). A word
/// kind:TEXT asks for spans of such kinds only, by the name that the other words are; alone for all of them.
SpanFilter search_spans(const Timeline& timeline, const std::string& text);

/// The first span after `after_ns` (before it, with `backwards`) that the filter finds.
std::unique_ptr<SpanPlace> next_match(const Timeline& timeline, const SpanFilter& filter, std::int64_t after_ns,
                                      bool backwards);

}  // namespace ddbench::gui
