#include "analyzer/import/nccl_inspector/inspector_lines.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

#include "analyzer/import/kineto/file_bytes.h"
#include "analyzer/import/trace/collective_names.h"
#include "core/error.h"
#include "core/nccl_event.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = std::size_t{16} << 20;  // with events of each channel
constexpr int kMostRanks = 1 << 20;
constexpr double kLongest_us = 1e12;

class LineReader {
 public:
  LineReader(const std::filesystem::path& file, const std::function<void(InspectorCall&&)>& take)
      : file_(file), bytes_(file), take_(take) {}

  InspectorFile read() {
    std::string text;
    std::string block(kBlockBytes, '\0');
    for (std::size_t got = 1; got > 0;) {
      got = bytes_.read(block.data(), block.size());
      text.append(block, 0, got);
      std::size_t at = 0;
      for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
        line(std::string_view(text).substr(at, end - at), false);
      text.erase(0, at);
      if (text.size() > kLongestLine) fail("it is longer than 16 MB");
    }
    line(text, true);
    result_.hash = bytes_.hash();
    return result_;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{} line {}: {}", file_.string(), number_ + 1, why), 0, file_.string());
  }

  void line(std::string_view text, bool is_last) {
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.find_first_not_of(" \t") != std::string_view::npos) {
      dom::element element;
      if (parser_.parse(text.data(), text.size()).get(element) == simdjson::SUCCESS) {
        call(element);
      } else if (is_last) {
        result_.is_cut_off = true;
      } else {
        fail("it is no JSON");
      }
    }
    ++number_;
  }

  template <typename Number>
  Number number(const dom::element& element, const char* key, double least, double most) const {
    double value = 0;
    if (element[key].get(value) != simdjson::SUCCESS || !(value >= least) || value > most)
      fail(fmt::format("{} is missing, or no number from {:g} to {:g}", key, least, most));
    return static_cast<Number>(value);
  }

  static std::string text(const dom::element& element, const char* key) {
    std::string_view value;
    return element[key].get(value) == simdjson::SUCCESS ? std::string(value.substr(0, 256)) : std::string();
  }

  void call(const dom::element& element) {
    dom::element header, perf, metadata;
    if (element["header"].get(header) != simdjson::SUCCESS) fail("it has no header: it is not of NCCL Inspector");
    InspectorCall call;
    call.communicator = text(header, "id");
    call.ranks = number<int>(header, "n_ranks", 1, kMostRanks);
    call.rank = number<int>(header, "rank", 0, call.ranks - 1);
    if (double nodes = 0; header["nnodes"].get(nodes) == simdjson::SUCCESS && nodes >= 1 && nodes <= call.ranks)
      call.nodes = static_cast<int>(nodes);
    if (element["metadata"].get(metadata) == simdjson::SUCCESS) call.host = text(metadata, "hostname");
    const bool is_collective = element["coll_perf"].get(perf) == simdjson::SUCCESS;
    if (!is_collective && element["p2p_perf"].get(perf) != simdjson::SUCCESS) fail("it has neither coll_perf nor p2p_perf");
    read_performance(perf, is_collective ? "coll" : "p2p", call);
    take_(std::move(call));
  }

  void read_performance(const dom::element& perf, const std::string& kind, InspectorCall& call) const {
    const std::string name = text(perf, kind.c_str());
    call.function = nccl_function(name);
    if (call.function.empty()) {
      for (const char c : name) call.function += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (call.function.empty()) fail(fmt::format("{} is missing", kind));
    call.sequence = number<std::uint64_t>(perf, (kind + "_sn").c_str(), 0, 9e15);
    call.is_p2p = kind == "p2p";
    const std::string size = kind + "_msg_size_bytes";
    const auto message_bytes = number<std::uint64_t>(perf, size.c_str(), 0, static_cast<double>(kMostBytes));
    const auto bytes = bytes_of_all_ranks(call.function, message_bytes, call.ranks);
    if (!bytes) fail(fmt::format("{} is {}, which {} ranks cannot have each", size, message_bytes, call.ranks));
    call.bytes = *bytes;
    call.duration_ns = std::llround(1e3 * number<double>(perf, (kind + "_exec_time_us").c_str(), 0, kLongest_us));
    call.timing_source = text(perf, (kind + "_timing_source").c_str());
    const std::string algorithm = text(perf, (kind + "_algo").c_str());
    if (!algorithm.empty()) call.nccl_algorithm = fmt::format("{} {}", algorithm, text(perf, (kind + "_proto").c_str()));
  }

  const std::filesystem::path& file_;
  FileBytes bytes_;
  const std::function<void(InspectorCall&&)>& take_;
  dom::parser parser_;
  InspectorFile result_;
  std::int64_t number_ = 0;
};

}  // namespace

InspectorFile read_inspector_lines(const std::filesystem::path& file, const std::function<void(InspectorCall&&)>& take) {
  return LineReader(file, take).read();
}

}  // namespace ddbench::imports
