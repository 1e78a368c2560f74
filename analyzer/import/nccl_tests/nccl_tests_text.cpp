#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "analyzer/import/nccl_tests/nccl_results.h"
#include "analyzer/import/numbers.h"
#include "core/error.h"

namespace ddbench::imports {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trimmed(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

/// Without mpirun's "[1,0]<stdout>:".
std::string_view without_prefix(std::string_view line) {
  constexpr std::string_view kMark = "<stdout>:";
  const std::size_t mark = line.find(kMark);
  return !line.empty() && line.front() == '[' && mark != std::string_view::npos
             ? line.substr(mark + kMark.size())
             : line;
}

std::string_view after(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  return at == std::string_view::npos ? std::string_view{} : line.substr(at + mark.size());
}

class TextReader {
 public:
  explicit TextReader(const std::string& origin) : origin_(origin) {}

  void read_line(std::string_view line) {
    ++line_;
    line = trimmed(without_prefix(line));
    if (!line.empty() && line.front() == '#') {
      read_comment(line);
      return;
    }
    if (std::string named = function_of_program(line); !named.empty()) name(std::move(named));
    if (place_columns_ > 0 && !ended_) read_row(words_of(line));
  }

  std::vector<NcclResults> finish() {
    end_test();
    return std::move(tests_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{} line {}: {}", origin_, line_, what), 0, origin_);
  }

  void end_test() {
    results_.ranks = static_cast<int>(ranks_.size());
    tests_.push_back(std::exchange(results_, {}));
    ranks_.clear();
    place_columns_ = columns_ = 0;
    has_timestamp_ = has_begun_ = ended_ = false;
  }

  /// A program that is named when a test has begun is that of the next.
  void name(std::string function) {
    if (results_.function.empty()) {
      results_.function = std::move(function);
    } else if (has_begun_) {
      next_function_ = std::move(function);
    }
  }

  void begin_test(std::string function) {
    if (has_begun_) end_test();
    if (function.empty()) function = std::exchange(next_function_, {});
    next_function_.clear();
    if (!function.empty()) results_.function = std::move(function);
  }

  void read_comment(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line.substr(1));
    if (line.find("Collective test starting") != std::string_view::npos) {
      begin_test(function_of_program(line));
      has_begun_ = true;
      has_settings_ = false;
    } else if (!words.empty() && words[0] == "nThread") {
      if (std::exchange(has_settings_, true)) begin_test({});
      has_begun_ = true;
    } else if (results_.function.empty() && line.find("concluded") == std::string_view::npos) {
      results_.function = function_of_program(line);
    }
    if (words.size() > 3 && words[0] == "Rank") return read_device(line, words);
    if (words.size() > 2 && words[0] == "size" && words[1] == "count") return read_header(words);
    if (words.size() > 1 && words[0] == "Out" && words[1] == "of") ended_ = true;
    // "warmup iters" comes before, "agg iters" behind.
    const std::vector<std::string_view> iterations = words_of(after(after(line, "warmup iters:"), "iters:"));
    if (!iterations.empty())
      results_.iterations = std::max<std::int64_t>(0, integer_from(iterations[0]).value_or(0));
  }

  /// "#  Rank  0 Group  0 Pid 1887 on worker-1 device  0 [0x8d] NVIDIA H100 80GB HBM3"
  void read_device(std::string_view line, const std::vector<std::string_view>& words) {
    if (!ranks_.insert(std::string(words[1])).second) return;
    const std::vector<std::string_view> behind_on = words_of(after(line, " on "));
    results_.hosts.emplace_back(behind_on.empty() ? std::string_view("unknown") : behind_on[0]);
    results_.models.emplace_back(trimmed(after(line, "] ")));
  }

  void read_header(const std::vector<std::string_view>& words) {
    const auto time = std::find_if(words.begin(), words.end(),
                                   [](auto word) { return word == "time" || word == "cputime"; });
    const auto second = std::find_if(time == words.end() ? time : time + 1, words.end(),
                                     [](auto word) { return word == "time" || word == "cputime"; });
    if (second == words.end()) fail("the header of the table has no two columns \"time\"");
    if (second - time < 3) fail("the header of the table has no columns \"time\", \"algbw\" and \"busbw\" side by side");
    place_columns_ = static_cast<std::size_t>(second - time);
    columns_ = static_cast<std::size_t>(time - words.begin()) + 2 * place_columns_;
    has_timestamp_ = words.back() == "timestamp";
  }

  void read_row(std::vector<std::string_view> words) {
    // Between the rows NCCL and the launcher write what they like; a row begins with two numbers, or is as
    // long as one.
    if (words.size() < 2 || !integer_from(words[0])) return;
    if (!integer_from(words[1]) && words.size() < 2 + 2 * place_columns_) return;
    if (has_timestamp_ && words.size() > columns_) words.resize(std::max(columns_, words.size() - 2));
    if (words.size() < 2 + 2 * place_columns_ || words.size() > columns_) {
      fail(fmt::format("{} values, but the header of the table has {} columns", words.size(), columns_));
    }
    const std::size_t places = words.size() - 2 * place_columns_;
    if (places > 2) results_.type = std::string(words[2]);
    if (places > 3) results_.redop = std::string(words[3]);
    const double bytes = number(words, 0, "size");
    if (bytes == 0) return;
    results_.out_of_place.push_back(measurement(words, places, bytes));
    results_.in_place.push_back(measurement(words, places + place_columns_, bytes));
  }

  NcclMeasurement measurement(const std::vector<std::string_view>& words, std::size_t at,
                              double bytes) const {
    NcclMeasurement result{fmt::format("line {}", line_),  bytes,
                           number(words, at, "time"),      number(words, at + 1, "algbw"),
                           number(words, at + 2, "busbw"), {}};
    if (place_columns_ > 3 && words[at + 3] != "N/A") result.wrong = number(words, at + 3, "#wrong");
    return result;
  }

  double number(const std::vector<std::string_view>& words, std::size_t at, const char* column) const {
    const std::optional<double> value = number_from(words[at]);
    if (!value || *value < 0)
      fail(fmt::format("column {} ({}): \"{}\" is not a number of 0 or more", at + 1, column, words[at]));
    return *value;
  }

  const std::string& origin_;
  int line_ = 0;
  std::size_t place_columns_ = 0;  ///< from one "time" to the next; 0: no header yet
  std::size_t columns_ = 0;        ///< without the timestamp
  bool has_timestamp_ = false;
  bool ended_ = false;
  bool has_begun_ = false;     ///< what the program prints first was there
  bool has_settings_ = false;  ///< "# nThread"
  std::set<std::string> ranks_;
  NcclResults results_;
  std::string next_function_;
  std::vector<NcclResults> tests_;
};

}  // namespace

std::string function_of_program(std::string_view text) {
  const std::size_t end = text.find("_perf");
  if (end == std::string_view::npos) return {};
  std::size_t begin = end;
  while (begin > 0 &&
         (std::islower(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_'))
    --begin;
  const std::string name(text.substr(begin, end - begin));
  if (name == "alltoall") return "all_to_all";
  if (name == "sendrecv") return "send_recv";
  if (name == "alltoallv") return "all_to_all_v";
  return name;
}

std::vector<NcclResults> read_nccl_text(std::string_view text, const std::string& origin) {
  TextReader reader(origin);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace ddbench::imports
