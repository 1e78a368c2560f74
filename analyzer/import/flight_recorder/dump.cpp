#include "analyzer/import/flight_recorder/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/import/flight_recorder/pickle.h"
#include "analyzer/import/numbers.h"
#include "core/error.h"
#include "core/span_limits.h"
#include "core/text/number.h"

namespace ddbench::imports {
namespace {

using Json = nlohmann::json;

class DumpReader {
 public:
  DumpReader(const Json& root, const std::string& origin) : root_(root), origin_(origin) {}

  FlightDump read() {
    if (!root_.is_object() || !root_.contains("entries") || !root_["entries"].is_array())
      fail("it is no dump of PyTorch's Flight Recorder: it has no entries");
    dump_.file = origin_;
    dump_.version = text(root_, "version");
    if (!dump_.version.starts_with("2.")) fail(fmt::format("its version is \"{}\", and 2.x was expected", dump_.version));
    dump_.nccl_version = text(root_, "nccl_version");
    const std::int64_t rank = integer(root_, "rank").value_or(-1);
    if (rank >= kMostRanks) fail(fmt::format("it says that it is of rank {}, and there are {} at most", rank, kMostRanks));
    dump_.rank = static_cast<int>(std::max<std::int64_t>(rank, -1));
    read_groups();
    read_progress();
    for (const Json& entry : root_["entries"]) read_operation(entry);
    std::stable_sort(dump_.operations.begin(), dump_.operations.end(),
                     [](const RecordedOperation& a, const RecordedOperation& b) { return a.order < b.order; });
    complete_batches();
    return std::move(dump_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", origin_, why), 0, origin_);
  }

  static std::string text(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  }
  static std::optional<std::int64_t> integer(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
  }

  /// "[0, 1, 2]"; of "[0, 2, ...]" nothing.
  std::vector<int> ranks_of(std::string_view text) const {
    std::vector<int> ranks;
    if (!text.starts_with('[') || !text.ends_with(']')) return {};
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      const auto rank = ddbench::number_from<int>(trimmed(text.substr(0, comma)));
      if (!rank || *rank < 0) return {};
      if (*rank >= kMostRanks) fail(fmt::format("a process group has rank {}, and there are {} at most", *rank, kMostRanks));
      ranks.push_back(*rank);
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  void read_groups() {
    const auto config = root_.find("pg_config");
    if (config == root_.end() || !config->is_object()) return;
    for (const auto& [name, group] : config->items()) {
      if (group.is_object()) dump_.groups[name] = {text(group, "desc"), ranks_of(text(group, "ranks"))};
    }
  }

  void read_progress() {
    const auto status = root_.find("pg_status");
    if (status == root_.end() || !status->is_object()) return;
    for (const auto& [number, group] : status->items()) {
      if (!group.is_object()) continue;
      dump_.progress[number] = {integer(group, "last_enqueued_collective").value_or(-1),
                                integer(group, "last_completed_collective").value_or(-1)};
    }
  }

  void read_operation(const Json& entry) {
    if (!entry.is_object()) fail("an entry is no dictionary");
    const auto group = entry.find("process_group");
    if (group == entry.end() || !group->is_array() || group->empty() || !(*group)[0].is_string())
      fail("an entry has no process_group");
    RecordedOperation operation;
    operation.order = integer(entry, "record_id").value_or(static_cast<std::int64_t>(dump_.operations.size()));
    operation.group = (*group)[0].get<std::string>();
    operation.name = text(entry, "profiling_name");
    const auto is_p2p = entry.find("is_p2p");
    operation.is_p2p = is_p2p != entry.end() && is_p2p->is_boolean() && is_p2p->get<bool>();
    const auto sequence = integer(entry, operation.is_p2p ? "p2p_seq_id" : "collective_seq_id");
    const auto older = integer(entry, "seq_id");  // 2.4
    if (!sequence && !older) fail(fmt::format("the entry {} has no collective_seq_id", operation.name));
    operation.sequence = sequence.value_or(older.value_or(0));
    operation.is_completed = text(entry, "state") == "completed";
    if (const auto number = integer(entry, "pg_id")) dump_.numbers[operation.group] = std::to_string(*number);
    dump_.operations.push_back(std::move(operation));
  }

  /// The sends and receives of a batch (batch_isend_irecv) stay "scheduled" for ever (pytorch/pytorch issue 137969): only the entry
  /// "nccl:coalesced" that follows them, of the same number, gets the state of all.
  void complete_batches() {
    std::map<std::pair<std::string, std::int64_t>, bool> ends;  // by group and number
    for (auto operation = dump_.operations.rbegin(); operation != dump_.operations.rend(); ++operation) {
      if (!operation->is_p2p) continue;
      const std::pair batch(operation->group, operation->sequence);
      if (operation->name == "nccl:coalesced") {
        ends[batch] = operation->is_completed;
      } else if (const auto end = ends.find(batch); end != ends.end()) {
        operation->is_completed = operation->is_completed || end->second;
      }
    }
  }

  const Json& root_;
  const std::string& origin_;
  FlightDump dump_;
};

}  // namespace

FlightDump read_flight_dump(std::string_view bytes, const std::string& origin) {
  const std::string_view text = trimmed(bytes);
  if (text.empty()) throw Error(ErrorCode::kBadInput, fmt::format("{}: the file is empty", origin), 0, origin);
  if (text.front() != '{') return DumpReader(read_pickle(bytes, origin), origin).read();
  const Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) throw Error(ErrorCode::kBadInput, fmt::format("{}: this is no valid JSON", origin), 0, origin);
  return DumpReader(root, origin).read();
}

}  // namespace ddbench::imports
