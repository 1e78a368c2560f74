#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/import/kineto/trace_text.h"

namespace ddbench::imports {

/// What PyTorch's profiler says of a collective.
struct CollectiveArguments {
  std::string_view name;   ///< "allreduce", "_allgather_base"; empty: it says nothing
  std::string_view dtype;  ///< "Float"
  std::uint64_t in_elements = 0;
  std::uint64_t out_elements = 0;
  std::string_view group;        ///< "Process Group Name"
  std::string_view group_ranks;  ///< "[0, 1]"; where there are many: "[0, 2, ...]"
  int group_size = 0;            ///< 0: not said
  std::optional<std::uint64_t> sequence;
};

/// A complete event ("ph": "X") of a trace. Texts are valid while the call that got it lasts.
struct TraceEvent {
  std::string_view category;  ///< "kernel", "cpu_op", ...; empty in traces without Kineto
  std::string_view name;
  std::int64_t begin_ns = 0;  ///< as the file has it: what its base adds is not in it
  std::int64_t end_ns = 0;
  std::int64_t thread = 0;  ///< a hash where it is a text
  std::optional<std::uint64_t> correlation;
  std::optional<std::uint64_t> autograd_sequence;
  bool is_backward = false;  ///< an operator that the autograd engine runs for a forward thread
  std::int64_t device = -1;
  std::uint64_t bytes = 0;        ///< of a copy
  std::uint64_t first_elements = 0;  ///< elements of the first tensor among its inputs
  std::string_view first_type;       ///< "float"
  CollectiveArguments collective;
};

/// Reads the events of a piece. One for each file: it keeps the parser's memory.
class EventParser {
 public:
  explicit EventParser(std::filesystem::path file);
  ~EventParser();
  EventParser(EventParser&&) noexcept;

  /// Calls `take` for each complete event, in order; others (flows, marks, counters) are left out, and Python's functions.
  /// Throws Error{kBadInput} that names the file and the offset for what is no JSON, and for an event without its times.
  template <typename Take>
  void parse(const JsonPiece& piece, const Take& take) {
    parse_piece(piece, [](const void* to, const TraceEvent& event) { (*static_cast<const Take*>(to))(event); }, &take);
  }

 private:
  class Impl;
  void parse_piece(const JsonPiece& piece, void (*call)(const void* to, const TraceEvent& event), const void* take);
  std::unique_ptr<Impl> impl_;
};

/// Nanoseconds of a decimal number of microseconds, "4203669603454.206", exactly; what is less than a nanosecond is cut
/// off. Nothing for another text, and beyond 2^61 ns.
std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) noexcept;

}  // namespace ddbench::imports
