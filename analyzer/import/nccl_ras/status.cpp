#include "analyzer/import/nccl_ras/status.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <set>
#include <utility>

#include "analyzer/import/numbers.h"
#include "core/error.h"
#include "core/nccl_event.h"

namespace ddbench::imports {
namespace {

namespace dom = simdjson::dom;

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::size_t kLongestText = 256;

[[noreturn]] void refuse(const std::string& origin, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", origin, why), 0, origin);
}

/// One object, with its place for messages: "communicators[2].ranks[0]".
class Object {
 public:
  Object(dom::element element, std::string place, const std::string& origin)
      : element_(element), place_(std::move(place)), origin_(origin) {
    if (!element.is_object()) refuse(origin_, fmt::format("{} is no object", place_));
  }

  std::int64_t number(const char* key, std::int64_t least, std::int64_t most) const {
    std::int64_t value = 0;
    if (element_[key].get(value) != simdjson::SUCCESS || value < least || value > most)
      refuse(origin_, fmt::format("{}{} is missing, or no integer from {} to {}", prefix(), key, least, most));
    return value;
  }

  std::string text(const char* key) const {
    std::string_view value;
    return element_[key].get(value) == simdjson::SUCCESS ? std::string(value.substr(0, kLongestText)) : std::string();
  }

  bool flag(const char* key) const {
    bool value = false;
    return element_[key].get(value) == simdjson::SUCCESS && value;
  }

  Object object(const char* key) const {
    dom::element value;
    if (element_[key].get(value) != simdjson::SUCCESS) refuse(origin_, fmt::format("{}{} is missing", prefix(), key));
    return Object(value, prefix() + key, origin_);
  }

  template <typename Take>
  void each(const char* key, const Take& take) const {
    dom::array values;
    if (element_[key].get(values) != simdjson::SUCCESS) refuse(origin_, fmt::format("{}{} is missing, or no list", prefix(), key));
    std::size_t place = 0;
    for (const dom::element value : values) take(Object(value, fmt::format("{}{}[{}]", prefix(), key, place++), origin_));
  }

  template <typename Take>
  void each_count(const Take& take) const {
    for (const dom::key_value_pair field : dom::object(element_)) {
      std::uint64_t count = 0;
      if (field.value.get(count) != simdjson::SUCCESS)
        refuse(origin_, fmt::format("{}{} is no count", prefix(), field.key.substr(0, kLongestText)));
      take(field.key.substr(0, kLongestText), count);
    }
  }

  bool has(const char* key) const { return element_[key].error() == simdjson::SUCCESS; }
  const std::string& place() const { return place_; }

 private:
  std::string prefix() const { return place_.empty() ? std::string() : place_ + "."; }

  dom::element element_;
  std::string place_;
  const std::string& origin_;
};

RasRank read_place(const Object& object, int size) {
  RasRank rank;
  rank.rank = static_cast<int>(object.number("rank", 0, size - 1));
  rank.host = object.text("host");
  if (rank.host == "unknown") rank.host.clear();
  if (object.has("pid")) rank.pid = object.number("pid", -1, std::int64_t{1} << 32);
  if (object.has("nvml_dev")) rank.gpu = static_cast<int>(object.number("nvml_dev", -1, kMostRanks));
  return rank;
}

RasRank read_rank(const Object& object, int size) {
  RasRank rank = read_place(object, size);
  const Object status = object.object("status");
  rank.init_state = static_cast<int>(status.number("init_state", 0, 1000));
  rank.async_error = static_cast<int>(status.number("async_error", 0, 1000));
  rank.is_aborted = status.flag("abort_flag");
  rank.is_ending = status.flag("finalize_called") || status.flag("destroy_flag");
  if (!object.has("collective_counts")) return rank;
  object.object("collective_counts").each_count([&](std::string_view name, std::uint64_t count) {
    const std::string_view known = nccl_function(name);
    rank.launched[known.empty() ? lower_case(name) : std::string(known)] = count;
  });
  return rank;
}

RasRank read_missing(const Object& object, int size) {
  RasRank rank = read_place(object, size);
  const Object status = object.object("status");
  rank.is_unresponsive = status.flag("unresponsive");
  rank.is_dead = status.flag("considered_dead");
  return rank;
}

RasCommunicator read_communicator(const Object& object, const std::string& origin) {
  RasCommunicator communicator;
  communicator.hash = object.text("hash");
  communicator.size = static_cast<int>(object.number("size", 1, kMostRanks));
  std::set<int> seen;
  const auto take = [&](std::vector<RasRank>& ranks, RasRank rank) {
    if (!seen.insert(rank.rank).second) refuse(origin, fmt::format("{} has rank {} twice", object.place(), rank.rank));
    ranks.push_back(std::move(rank));
  };
  object.each("ranks", [&](const Object& rank) { take(communicator.ranks, read_rank(rank, communicator.size)); });
  object.each("missing_ranks", [&](const Object& rank) { take(communicator.missing, read_missing(rank, communicator.size)); });
  return communicator;
}

/// NCCL 2.28.9 leaves out the comma behind a missing rank's "nvml_dev": one at the end of each line that lacks it before the
/// name of a member.
std::string with_commas(std::string_view text) {
  std::string whole;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = trimmed(text.substr(0, end));
    whole += text.substr(0, end);
    text.remove_prefix(end);
    const bool ends_value = !line.empty() && std::string_view(",{[:").find(line.back()) == std::string_view::npos;
    if (ends_value && trimmed(text).starts_with('"')) whole.insert(whole.size() - 1, 1, ',');
  }
  return whole;
}

/// RAS's socket sends this before the answer to a query: "OK" for the requested format.
std::string_view without_acknowledgement(std::string_view text) {
  text = trimmed(text);
  return text.starts_with("OK") ? trimmed(text.substr(2)) : text;
}

}  // namespace

RasStatus read_ras_status(std::string_view text, const std::string& origin) {
  std::string_view content = without_acknowledgement(text);
  if (content.empty()) refuse(origin, "the file is empty");
  if (!content.starts_with('{')) {
    refuse(origin, content.find("Communicators...") != std::string_view::npos || content.find("Job summary") != std::string_view::npos
                       ? "this is the text that ncclras prints for people, which changes from release to release: "
                         "`ncclras -f json` prints what can be imported (NCCL 2.28.7 or later)"
                       : "this is not what `ncclras -f json` prints: it does not begin with {");
  }
  dom::parser parser;
  dom::element root;
  std::string mended;
  if (parser.parse(content.data(), content.size()).get(root) != simdjson::SUCCESS) content = mended = with_commas(content);
  if (!mended.empty() && parser.parse(content.data(), content.size()).get(root) != simdjson::SUCCESS)
    refuse(origin, "this is no valid JSON, or more than one document: name a file with the answer to one query");
  const Object object(root, "", origin);
  if (!object.has("communicators")) {
    refuse(origin, object.has("event") ? "this is an event of `ncclras -m`, not the state of a job: `ncclras -f json` prints that"
                                       : "this is not what `ncclras -f json` prints: it has no communicators");
  }
  RasStatus status;
  status.nccl_version = object.text("nccl_version");
  status.timestamp = object.text("timestamp");
  object.each("communicators", [&](const Object& each) { status.communicators.push_back(read_communicator(each, origin)); });
  if (status.communicators.empty()) refuse(origin, "it has no communicator: the job had made none, or had ended");
  if (object.has("ras") && object.object("ras").has("timeouts_count"))
    status.timeouts = static_cast<std::uint64_t>(object.object("ras").number("timeouts_count", 0, std::int64_t{1} << 32));
  return status;
}

}  // namespace ddbench::imports
