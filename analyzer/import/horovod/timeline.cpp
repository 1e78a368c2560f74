#include "analyzer/import/horovod/timeline.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/import/kineto/file_bytes.h"
#include "analyzer/import/kineto/trace_text.h"
#include "analyzer/import/trace/collective_names.h"
#include "core/error.h"
#include "core/span_limits.h"
#include "core/text/number.h"

namespace ddbench::imports {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kNegotiates = "NEGOTIATE_";
constexpr std::int64_t kLatest_us = kLatest_ns / 1000;
constexpr int kMostRanks = 1 << 20;
constexpr std::size_t kDeepest = 16;

/// "[64, 128]" -> 8192; nothing for another text, or too many.
std::optional<std::uint64_t> elements_of(std::string_view shape) {
  if (!shape.starts_with('[') || !shape.ends_with(']')) return std::nullopt;
  shape = shape.substr(1, shape.size() - 2);
  std::uint64_t product = 1;
  while (!shape.empty()) {
    while (shape.starts_with(' ') || shape.starts_with(',')) shape.remove_prefix(1);
    const auto extent = leading_number<std::uint64_t>(shape);
    if (!extent || __builtin_mul_overflow(product, extent->value, &product)) return std::nullopt;
    shape = extent->rest;
  }
  return product;
}

/// What is open in one tensor's lane.
struct OpenEvent {
  enum class What : std::uint8_t { kNegotiation, kOperation, kActivity };
  What what = What::kNegotiation;
  std::size_t name = 0;  ///< of an activity
  std::int64_t begin_ns = 0;
  std::string_view function;
};

struct TensorLane {
  std::size_t tensor = 0;
  std::vector<OpenEvent> open;
  std::vector<HorovodActivity> pending;  ///< of the operation that is open
  std::vector<HorovodReady> ready;       ///< of the negotiation that is open
};

class TimelineReader {
 public:
  explicit TimelineReader(const std::filesystem::path& file) : file_(file) {}

  HorovodTimeline read() {
    FileBytes bytes(file_);
    TraceText text(bytes, TraceText::AtCutOff::kEnd);
    std::string_view key;
    JsonPiece piece;
    for (TraceText::What what; (what = text.next(key, piece)) != TraceText::What::kEnd;) {
      if (what == TraceText::What::kEvents) read_events(piece);
    }
    timeline_.is_cut_off = text.is_cut_off();
    timeline_.hash = bytes.hash();
    for (const auto& [id, lane] : lanes_) timeline_.not_whole += lane.open.size();
    if (timeline_.negotiations.empty() && timeline_.operations.empty()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} is no timeline of Horovod's: it has no negotiation (NEGOTIATE_ALLREDUCE) and no operation "
                              "that ended",
                              file_.string()),
                  0, file_.string());
    }
    return std::move(timeline_);
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}, event {} of those from byte {} on: {}", file_.string(), event_, offset_, why),
                0, file_.string());
  }

  void read_events(const JsonPiece& piece) {
    offset_ = piece.offset;
    event_ = 0;
    dom::array events;
    if (parser_.parse(piece.text.data(), piece.text.size()).get(events) != simdjson::SUCCESS) fail("this is no JSON");
    for (const dom::element event : events) {
      ++event_;
      if (!event.is_object()) fail("it is no object");
      read_event(event);
    }
  }

  std::string_view text(const dom::element& event, const char* key) const {
    std::string_view value;
    return event[key].get(value) == simdjson::SUCCESS ? value : std::string_view();
  }

  std::int64_t time_ns(const dom::element& event) const {
    double us = 0;
    if (event["ts"].get(us) != simdjson::SUCCESS || !(std::abs(us) < static_cast<double>(kLatest_us)))
      fail("its ts is missing, or no time in microseconds");
    return std::llround(us * 1000);
  }

  TensorLane& lane(const dom::element& event) {
    std::int64_t id = 0;
    if (event["pid"].get(id) != simdjson::SUCCESS) fail("its pid is missing, or no integer: Horovod numbers tensors by it");
    const auto [place, is_new] = lanes_.try_emplace(id);
    if (is_new) {
      place->second.tensor = timeline_.tensors.size();
      timeline_.tensors.emplace_back();
    }
    return place->second;
  }

  void read_event(const dom::element& event) {
    const std::string_view phase = text(event, "ph");
    const std::string_view name = text(event, "name");
    if (phase == "M" && name == "process_name") {
      std::string_view tensor;
      if (event["args"]["name"].get(tensor) == simdjson::SUCCESS) timeline_.tensors[lane(event).tensor] = tensor.substr(0, 512);
    } else if (phase == "B") {
      begin(lane(event), name, time_ns(event));
    } else if (phase == "E") {
      end(lane(event), event, time_ns(event));
    } else if (phase == "X") {
      ready(lane(event), name, time_ns(event));
    }
  }

  std::size_t activity_name(std::string_view name) {
    const auto [place, is_new] = activity_names_.try_emplace(std::string(name), timeline_.activity_names.size());
    if (is_new) timeline_.activity_names.emplace_back(name);
    return place->second;
  }

  void begin(TensorLane& lane, std::string_view name, std::int64_t at_ns) {
    if (lane.open.size() >= kDeepest) fail(fmt::format("more than {} events of one tensor are open", kDeepest));
    OpenEvent open;
    open.begin_ns = at_ns;
    if (!lane.open.empty()) {
      open.what = OpenEvent::What::kActivity;
      open.name = activity_name(name);
    } else if (name.starts_with(kNegotiates)) {
      lane.ready.clear();
    } else {
      open.what = OpenEvent::What::kOperation;
      open.function = name == "ADASUM" ? std::string_view("all_reduce") : collective_function(name);
      lane.pending.clear();
    }
    lane.open.push_back(open);
  }

  void ready(TensorLane& lane, std::string_view name, std::int64_t at_ns) {
    const auto rank = number_from<int>(name);
    if (!rank || lane.open.empty() || lane.open.back().what != OpenEvent::What::kNegotiation) return;
    if (*rank < 0 || *rank >= kMostRanks) fail(fmt::format("rank {} cannot be", *rank));
    lane.ready.push_back({*rank, at_ns});
    timeline_.named_ranks = std::max(timeline_.named_ranks, *rank + 1);
  }

  void end(TensorLane& lane, const dom::element& event, std::int64_t at_ns) {
    if (lane.open.empty()) {
      ++timeline_.not_whole;
      return;
    }
    const OpenEvent open = lane.open.back();
    lane.open.pop_back();
    if (at_ns < open.begin_ns)
      fail(fmt::format("of tensor {} it ends what begins {} ns later", timeline_.tensors[lane.tensor], open.begin_ns - at_ns));
    switch (open.what) {
      case OpenEvent::What::kNegotiation:
        timeline_.negotiations.push_back({lane.tensor, open.begin_ns, at_ns, timeline_.ready.size(), lane.ready.size()});
        timeline_.ready.insert(timeline_.ready.end(), lane.ready.begin(), lane.ready.end());
        break;
      case OpenEvent::What::kOperation: end_operation(lane, open, event, at_ns); break;
      case OpenEvent::What::kActivity: lane.pending.push_back({0, open.name, open.begin_ns, at_ns}); break;
    }
  }

  void end_operation(TensorLane& lane, const OpenEvent& open, const dom::element& event, std::int64_t at_ns) {
    HorovodOperation operation{lane.tensor, open.function, open.begin_ns, at_ns};
    std::string_view dtype, shape;
    if (event["args"]["dtype"].get(dtype) == simdjson::SUCCESS && event["args"]["shape"].get(shape) == simdjson::SUCCESS) {
      std::uint64_t bytes = 0;
      const auto elements = elements_of(shape);
      if (elements && !__builtin_mul_overflow(*elements, bytes_of_type(dtype), &bytes) && bytes <= kMostBytes)
        operation.bytes = bytes;
    }
    for (HorovodActivity& activity : lane.pending) activity.operation = timeline_.operations.size();
    timeline_.activities.insert(timeline_.activities.end(), lane.pending.begin(), lane.pending.end());
    timeline_.operations.push_back(operation);
  }

  const std::filesystem::path& file_;
  dom::parser parser_;
  HorovodTimeline timeline_;
  std::unordered_map<std::int64_t, TensorLane> lanes_;
  std::unordered_map<std::string, std::size_t> activity_names_;
  std::uint64_t offset_ = 0;
  std::size_t event_ = 0;
};

}  // namespace

HorovodTimeline read_horovod_timeline(const std::filesystem::path& file) {
  return TimelineReader(file).read();
}

}  // namespace ddbench::imports
