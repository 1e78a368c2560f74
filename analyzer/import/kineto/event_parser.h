#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/import/kineto/trace_text.h"
#include "analyzer/import/trace/trace_event.h"

namespace ddbench::imports {

/// Reads the events of a piece. One for each file: it keeps the parser's memory.
class EventParser {
 public:
  explicit EventParser(std::filesystem::path file);
  ~EventParser();
  EventParser(EventParser&&) noexcept;

  /// Calls `take` for each complete event, in order; other events (flows, marks, counters) and Python's
  /// functions are skipped. For a window it returns how far it came and reports no error: an exact piece then
  /// shows the error. Throws Error{kBadInput} naming the file and the offset for text that is not JSON, and
  /// for an event without its times.
  template <typename Take>
  WindowRead parse(const JsonPiece& piece, const Take& take) {
    return parse_piece(piece, [](const void* to, const TraceEvent& event) { (*static_cast<const Take*>(to))(event); }, &take);
  }

 private:
  class Impl;
  WindowRead parse_piece(const JsonPiece& piece, void (*call)(const void* to, const TraceEvent& event), const void* take);
  std::unique_ptr<Impl> impl_;
};

/// Nanoseconds of a decimal number of microseconds, "4203669603454.206", exactly; fractions of a nanosecond
/// are cut off. Nothing for other text, and beyond 2^61 ns.
std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) noexcept;

}  // namespace ddbench::imports
