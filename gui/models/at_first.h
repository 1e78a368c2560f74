#pragma once

#include <QtGlobal>

namespace ddbench::gui {

/// How many entries of a list are shown until more are asked for: all up to thirteen, so that a legend names every part of a step, and
/// twelve of more. A notice of one more would take the room of that one.
constexpr qsizetype shown_at_first(qsizetype all) {
  constexpr qsizetype kMost = 12;
  return all <= kMost + 1 ? all : kMost;
}

}  // namespace ddbench::gui
