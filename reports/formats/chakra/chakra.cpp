#include "reports/formats/chakra/chakra.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/name_table.h"
#include "reports/formats/chakra/dependencies.h"
#include "reports/formats/chakra/messages.h"
#include "reports/text/output_file.h"

namespace ddbench::reports {
namespace {

namespace fs = std::filesystem;
using chakra::Message;
using chakra::NodeType;

// Node of et_def.proto
constexpr int kId = 1;
constexpr int kName = 2;
constexpr int kType = 3;
constexpr int kDataDependencies = 5;
constexpr int kStart_us = 6;
constexpr int kDuration_us = 7;
constexpr int kAttribute = 10;
// GlobalMetadata
constexpr int kVersion = 1;
constexpr int kMetadataAttribute = 2;

/// CollectiveCommType of et_def.proto; -1: it has no value for this function.
int comm_type(std::string_view function) {
  constexpr auto kTypes = std::to_array<std::pair<std::string_view, int>>({{"all_reduce", 0},
                                                                            {"reduce", 1},
                                                                            {"all_gather", 2},
                                                                            {"gather", 3},
                                                                            {"scatter", 4},
                                                                            {"broadcast", 5},
                                                                            {"all_to_all", 6},
                                                                            {"reduce_scatter", 7},
                                                                            {"barrier", 9}});
  for (const auto& [name, type] : kTypes) {
    if (name == function) return type;
  }
  return -1;
}

std::uint64_t micros(std::int64_t ns) {
  return ns <= 0 ? 0 : static_cast<std::uint64_t>((ns + 500) / 1000);
}

class ChakraWriter {
 public:
  ChakraWriter(const store::RunStore& store, store::RunRecord run, const fs::path& folder)
      : store_(store), run_(std::move(run)), folder_(folder), ranks_(store.ranks(run_.id)) {}

  ChakraExport write() {
    for (const store::RankRecord& rank : ranks_) look_at(rank);
    if (first_ns_ == std::numeric_limits<std::int64_t>::max())
      throw Error(ErrorCode::kBadInput, fmt::format("run {} has no spans in steps: there is nothing to write as a Chakra trace", run_.id));
    make_folder();
    for (const store::RankRecord& rank : ranks_) write_rank(rank);
    write_groups();
    return result_;
  }

 private:
  struct Group {
    std::set<int> seen;   ///< ranks that used it
    std::set<int> sizes;  ///< as reported by ranks
  };

  static bool is_node(const Span& span) {
    const bool counts = is_compute(span.kind) || span.kind == SpanKind::kCommunication || span.kind == SpanKind::kCopy ||
                        span.kind == SpanKind::kDataWait;
    return counts && span.step != kNoStep && span.begin_ns <= span.end_ns;
  }
  static int group_of(const Span& span) { return static_cast<int>(span.correlation >> 48); }

  void look_at(const store::RankRecord& rank) {
    for (const std::string& name : store_.span_names(run_.id, rank.rank)) {
      if (const auto size = parse_communicator_size(name)) groups_[size->communicator].sizes.insert(size->ranks);
    }
    for (const Span& span : store_.spans(run_.id, rank.rank)) {
      if (!is_node(span)) continue;
      first_ns_ = std::min(first_ns_, rank.clock.to_reference(span.begin_ns));
      if (span.kind == SpanKind::kCommunication && span.correlation != 0) groups_[group_of(span)].seen.insert(rank.rank);
    }
  }

  void make_folder() const {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error || !fs::is_directory(folder_, error))
      throw Error(ErrorCode::kBadInput, fmt::format("{} is no folder, and none could be made there", folder_.string()), 0, folder_.string());
  }

  /// Number of ranks in a group; 0: not known.
  int size_of(int group) const {
    const auto found = groups_.find(group);
    if (found == groups_.end()) return 0;
    if (found->second.sizes.size() == 1) return *found->second.sizes.begin();
    return static_cast<int>(found->second.seen.size());
  }

  void write_rank(const store::RankRecord& rank) {
    std::vector<Span> spans = store_.spans(run_.id, rank.rank);
    const std::vector<std::string> names = store_.span_names(run_.id, rank.rank);
    const auto name_of = [&](const Span& span) {
      return span.name_id < names.size() && !names[span.name_id].empty() ? names[span.name_id] : std::string(to_string(span.kind));
    };
    std::erase_if(spans, [&](const Span& span) { return !is_node(span); });
    result_.left_out += std::erase_if(
        spans, [&](const Span& span) { return span.kind == SpanKind::kCommunication && comm_type(name_of(span)) < 0; });
    if (spans.empty()) return;
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
    const auto waits_for = chakra::dependencies(spans);
    OutputFile file(folder_ / fmt::format("ddbench.{}.et", rank.rank));
    file.write(metadata(rank).delimited());
    for (std::size_t i = 0; i < spans.size(); ++i) file.write(node(i, spans[i], name_of(spans[i]), waits_for[i], rank).delimited());
    file.commit();
    ++result_.ranks;
    result_.nodes += spans.size();
  }

  Message metadata(const store::RankRecord& rank) const {
    Message message;
    message.text(kVersion, "0.0.4");
    message.attribute(kMetadataAttribute, "schema", "1.0.2-chakra.0.0.4");
    message.attribute(kMetadataAttribute, "producer", "ddbench");
    message.attribute(kMetadataAttribute, "run", std::string_view(run_.id));
    message.attribute(kMetadataAttribute, "rank", std::int64_t{rank.rank});
    message.attribute(kMetadataAttribute, "world_size", std::int64_t{run_.run_case.world_size()});
    return message;
  }

  /// Ids count from 1.
  Message node(std::size_t place, const Span& span, const std::string& name, const std::vector<std::size_t>& waits_for,
               const store::RankRecord& rank) {
    const bool is_collective = span.kind == SpanKind::kCommunication;
    const std::int64_t begin_ns = rank.clock.to_reference(span.begin_ns) - first_ns_;
    std::vector<std::uint64_t> ids;
    for (const std::size_t before : waits_for) ids.push_back(before + 1);
    Message message;
    message.number(kId, place + 1);
    message.text(kName, name);
    message.number(kType, static_cast<std::uint64_t>(is_collective ? NodeType::kCollective : NodeType::kCompute));
    message.numbers(kDataDependencies, ids);
    message.number(kStart_us, micros(begin_ns));
    message.number(kDuration_us, micros(span.duration_ns()));
    const bool on_device = span.lane == Lane::kDeviceCompute || span.lane == Lane::kDeviceCommunication;
    message.attribute(kAttribute, "is_cpu_op", !on_device && !is_collective);
    message.attribute(kAttribute, "begin_ns", begin_ns);
    message.attribute(kAttribute, "duration_ns", span.duration_ns());
    message.attribute(kAttribute, "step", std::int64_t{span.step});
    message.attribute(kAttribute, "phase", to_string(span.kind));
    if (is_collective) add_collective(span, name, message);
    return message;
  }

  void add_collective(const Span& span, const std::string& function, Message& message) {
    message.attribute(kAttribute, "comm_type", std::int64_t{comm_type(function)});
    if (span.correlation != 0) message.attribute(kAttribute, "pg_name", std::string_view(std::to_string(group_of(span))));
    const int ranks = span.correlation != 0 ? size_of(group_of(span)) : 0;
    const bool gives_a_part = function == "all_gather" || function == "gather";
    const bool is_known = function == "barrier" || (span.bytes > 0 && (!gives_a_part || ranks > 0));
    if (is_known)
      message.attribute(kAttribute, "comm_size",
                        static_cast<std::int64_t>(span.bytes / static_cast<std::uint64_t>(gives_a_part ? ranks : 1)));
    result_.unknown_size += !is_known;
  }

  /// In the format in which ASTRA-sim reads process groups: {"1": [0, 1]}.
  void write_groups() const {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [group, members] : groups_) {
      if (!members.seen.empty() && size_of(group) == static_cast<int>(members.seen.size())) json[std::to_string(group)] = members.seen;
    }
    write_file(folder_ / "ddbench.comm_groups.json", json.dump() + "\n");
  }

  const store::RunStore& store_;
  store::RunRecord run_;
  const fs::path& folder_;
  std::vector<store::RankRecord> ranks_;
  std::map<int, Group> groups_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  ChakraExport result_;
};

}  // namespace

ChakraExport export_chakra(const store::RunStore& store, const store::RunId& id, const fs::path& folder) {
  std::optional<store::RunRecord> run = store.run(id);
  if (!run) throw Error(ErrorCode::kBadInput, fmt::format("run {} is not in {}", id, store.file().string()));
  return ChakraWriter(store, *std::move(run), folder).write();
}

}  // namespace ddbench::reports
