#pragma once

#include <functional>
#include <string_view>

namespace ddbench::reports {

/// Receives the output of a writer, piece by piece and in order: large reports are never held in memory as a
/// whole. Throws Error when it cannot accept more; the writer then stops.
using Sink = std::function<void(std::string_view)>;

}  // namespace ddbench::reports
