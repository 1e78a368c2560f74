#include "analyzer/import/kineto/rank_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "analyzer/import/kineto/event_parser.h"
#include "analyzer/import/kineto/trace_member.h"
#include "analyzer/import/kineto/trace_text.h"
#include "analyzer/import/trace/collective_names.h"
#include "analyzer/import/trace/rank_builder.h"
#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::imports {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";

bool equal_ignoring_case(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == y;
         });
}

/// "gloo:all_reduce": a range that the backend itself records for a collective.
bool names_backend(std::string_view name, std::string_view backend) {
  return name.size() > backend.size() && name.starts_with(backend) && name[backend.size()] == ':';
}

enum class EventKind : std::uint8_t { kKernel, kCopy, kLaunch, kCpu, kNone };

EventKind kind_of(std::string_view category) {
  const auto is = [&](std::string_view lower) { return equal_ignoring_case(category, lower); };
  if (is("kernel")) return EventKind::kKernel;
  if (is("gpu_memcpy") || is("gpu_memset") || is("memcpy") || is("memset")) return EventKind::kCopy;
  if (category.ends_with("_runtime") || category.ends_with("_driver") || is("runtime")) return EventKind::kLaunch;
  if (category.empty() || is("cpu_op") || is("operator") || is("user_annotation")) return EventKind::kCpu;
  return EventKind::kNone;
}

std::uint64_t bytes_of_inputs(const TraceEvent& event) {
  CollectiveArguments arguments;
  arguments.dtype = event.first_type;
  arguments.in_elements = event.first_elements;
  return bytes_of(arguments);
}

void add_cpu(const TraceEvent& event, RankBuilder& builder) {
  if (event.name.starts_with(kStepMark)) {
    if (const auto number = number_from<std::uint64_t>(event.name.substr(kStepMark.size())))
      builder.add_step(event, *number);
    return;
  }
  for (const std::string_view backend : {"gloo", "mpi", "ucc"}) {
    if (!names_backend(event.name, backend)) continue;
    return builder.add_host_collective(event, backend, event.name.substr(backend.size() + 1), bytes_of_inputs(event));
  }
  if (names_backend(event.name, "nccl")) return builder.add_enqueued(event, event.name.substr(5), bytes_of_inputs(event));
  const CallKind kind = call_kind_of(event.name);
  if (equal_ignoring_case(event.category, "user_annotation") && kind == CallKind::kOther) return;
  builder.add_operator(event, kind);
}

void take(const TraceEvent& event, RankBuilder& builder) {
  switch (kind_of(event.category)) {
    case EventKind::kKernel: return builder.add_kernel(event);
    case EventKind::kCopy: return builder.add_copy(event);
    case EventKind::kLaunch: return builder.add_launch(event);
    case EventKind::kCpu: return add_cpu(event, builder);
    case EventKind::kNone: return;
  }
}

}  // namespace

RankTrace read_rank_trace(const std::filesystem::path& file) {
  FileBytes bytes(file);
  TraceText text(bytes, TraceText::AtCutOff::kRefuse, TraceText::Pieces::kWindows);
  EventParser parser(file);
  RankBuilder builder(file);
  std::string_view key;
  JsonPiece piece;
  bool has_events = false;
  for (TraceText::What what; (what = text.next(key, piece)) != TraceText::What::kEnd;) {
    if (what == TraceText::What::kEvents) {
      has_events = true;
      const WindowRead read = parser.parse(piece, [&](const TraceEvent& event) { take(event, builder); });
      if (piece.is_window) text.took(read);
    } else {
      read_trace_member(key, piece, file, builder.info());
    }
  }
  builder.set_hash(bytes.hash());
  builder.info().host = host_in_name(file);
  RankTrace trace = builder.finish();
  if (!has_events || trace.spans.spans.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has no event of PyTorch's profiler that ddbench can use (kernels, operators, steps)",
                            file.string()),
                0, file.string());
  }
  if (trace.collectives_of_unknown_group > 0) {
    trace.notes.push_back(fmt::format(
        "the trace does not say of which process group {} of {} collectives of a rank are, and they are on several streams (newer versions of "
        "PyTorch write it): they are not joined, and their waits for peers are not known",
        trace.collectives_of_unknown_group, trace.collectives.size()));
  }
  return trace;
}

}  // namespace ddbench::imports
