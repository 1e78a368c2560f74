#include "store_script.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "analyzer/store/sqlite/run_tables.h"
#include "script.h"

namespace ddbench::fuzz {
namespace {

using Json = nlohmann::json;

constexpr int kValuesPerColumn = 8;
constexpr std::size_t kLongestValue = 4096;

/// At the ends of their types, and just beyond.
constexpr std::string_view kNumbers[] = {
    "0", "1", "-1", "2", "255", "65536", "1000000", "2147483647", "2147483648", "-2147483649", "4294967296", "9007199254740993",
    "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e308", "-1e308", "1e-320", "0.1", "-0.0", "inf", "-inf", "nan"};
/// Each is a way out of the place where it is written, somewhere.
constexpr std::string_view kTexts[] = {
    "", "null", "..", "../../x", "../20261121T030000-0badcafe", "@/thesis.txt", "@/data/20261121T030000-0badcafe", "@/own/link", "/",
    "20261121T020000-00abc000", "20261121T030000-0badcafe", "20261121T050000-0badcafe", "<script>alert(1)</script>", "\"><img src=x>",
    "=1+1|' /C calc'!A0", "a,b\";'c", "--help", "$(id)", "`id`", "|cell|", "{\"a\":[", "{}", "[]", "{n}%s%n\\", "\x1b[31m", "\xff\xfe",
    "\xe2\x80\xae" "abc", "done", "running", "failed", "interrupted", "preempted", "gloo", "nccl", "all_reduce", "forward", "backward",
    "micro", "program", "nccl-tests", "micro.time_ns", "micro.operation", "zero1", "bf16", "cuda"};

class Mutation {
  std::size_t below(std::size_t count) { return random_() % count; }

  template <typename Range>
  auto one_of(const Range& range) {
    return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(below(std::size(range))));
  }

 public:
  Mutation(std::string_view script, const StoreValues& values, unsigned seed) : values_(values), random_(seed) {
    for (const std::string_view line : split(script, '\n')) lines_.emplace_back(line);
  }

  std::string make() {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t kind = below(10);
      if (kind < 4) {
        add(new_line());
      } else if (kind < 8) {
        change();
      } else if (kind < 9 && !lines_.empty()) {
        lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(below(lines_.size())));
      } else if (!lines_.empty()) {
        add(one_of(lines_));
      }
    }
    return fmt::format("{}", fmt::join(lines_, "\n"));
  }

 private:
  void add(std::string line) { lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(below(lines_.size() + 1)), std::move(line)); }

  std::string run_number() { return std::to_string(1 + below(4)); }

  std::string new_line() {
    switch (below(24)) {
      case 0: return fmt::format("delete\t{}\t{}", one_of(values_).first, run_number());
      case 1:
        return fmt::format("folder\t{}\t{}\t{}", one_of(std::to_array<std::string_view>({"logs", "checkpoints"})), one_of(kTexts),
                           one_of(std::to_array<std::string_view>({"plain", "marked", "others", "link"})));
      case 2: return fmt::format("patch\t{}\t{}", below(200'000), hexadecimal());
      case 3: return "unsealed";
      case 4: return below(2) == 0 ? "report" : "compare";
      case 5:
      case 6:
      case 7: return fmt::format("run\tid=20261121T0{}0000-0badcafe\t{}", below(10), change_of("run"));
      default: {
        const std::string table = one_of(values_).first;
        std::string line = fmt::format("set\t{}\t{}", table, run_number());
        for (std::size_t columns = 1 + below(3); columns > 0; --columns) line += "\t" + change_of(table);
        if (below(2) == 0) line += condition_of(table);
        return line;
      }
    }
  }

  std::string change_of(const std::string& table) {
    const auto& [column, samples] = one_of(values_.at(table));
    return column + "=" + value(samples);
  }

  /// Of one row among many.
  std::string condition_of(const std::string& table) {
    const auto& [column, samples] = one_of(values_.at(table));
    return samples.empty() ? "" : fmt::format("\t{}=={}", column, one_of(samples));
  }

  /// One field of a line that has some gets another value.
  void change() {
    if (lines_.empty()) return;
    std::string& line = lines_[below(lines_.size())];
    std::vector<std::string> fields;
    for (const std::string_view field : split(line, '\t')) fields.emplace_back(field);
    std::vector<std::string*> assigned;
    for (std::string& field : fields) {
      if (field.find('=') != std::string::npos) assigned.push_back(&field);
    }
    if (assigned.empty()) return;
    std::string& field = *one_of(assigned);
    const std::size_t end = field.find_first_not_of('=', field.find('='));
    const std::string old = end == std::string::npos ? "" : field.substr(end);
    field = field.substr(0, field.find('=') + 1) + (below(3) == 0 ? value(samples_of(fields, field)) : varied(old));
    line = fmt::format("{}", fmt::join(fields, "\t"));
  }

  std::vector<std::string> samples_of(const std::vector<std::string>& fields, const std::string& field) const {
    const auto table = values_.find(fields[0] == "set" && fields.size() > 1 ? fields[1] : "run");
    if (table == values_.end()) return {};
    const auto column = table->second.find(field.substr(0, field.find('=')));
    return column == table->second.end() ? std::vector<std::string>() : column->second;
  }

  std::string value(const std::vector<std::string>& samples) {
    const std::size_t kind = below(8);
    if (kind < 2) return std::string(one_of(kNumbers));
    if (kind < 4) return std::string(one_of(kTexts));
    if (kind < 5 || samples.empty()) return any_sample();
    return varied(one_of(samples));
  }

  std::string any_sample() {
    const std::vector<std::string> samples = one_of(one_of(values_).second).second;
    return samples.empty() ? "0x" + hexadecimal() : one_of(samples);
  }

  /// Near to a value that is right: past its first checks.
  std::string varied(const std::string& text) {
    if (const Json json = Json::parse(text, nullptr, false); json.is_structured() && !json.empty()) return varied_json(json);
    if (text.starts_with("0x")) return varied_bytes(text);
    double number = 0;
    if (const char* const end = text.data() + text.size(); !text.empty() && std::from_chars(text.data(), end, number).ptr == end)
      return varied_number(text);
    std::string changed = text;
    switch (below(4)) {
      case 0: changed += one_of(kTexts); break;
      case 1: changed.resize(changed.size() / 2); break;
      case 2: changed.insert(below(changed.size() + 1), 1, static_cast<char>(' ' + below(95))); break;
      default:
        while (!changed.empty() && changed.size() < kLongestValue) changed += changed;
    }
    return changed;
  }

  std::string varied_number(const std::string& text) {
    std::int64_t integer = 0;
    const bool is_integer = std::from_chars(text.data(), text.data() + text.size(), integer).ptr == text.data() + text.size();
    switch (below(6)) {
      case 0: return is_integer && integer < INT64_MAX ? std::to_string(integer + 1) : text + "1";
      case 1: return is_integer && integer > INT64_MIN ? std::to_string(integer - 1) : "-" + text;
      case 2: return text.starts_with('-') ? text.substr(1) : "-" + text;
      case 3: return text + "000000";
      case 4: return text + ".5";
      default: return std::string(one_of(kNumbers));
    }
  }

  std::string varied_bytes(std::string text) {
    if (text.size() < 4 || below(4) == 0) return text.substr(0, text.size() / 2);
    for (std::size_t count = 1 + below(4); count > 0; --count) text[2 + below(text.size() - 2)] = "0123456789abcdef"[below(16)];
    return text;
  }

  /// One of its values, at any depth, is another, or is not there.
  std::string varied_json(const Json& json) {
    Json flat = json.flatten();
    if (flat.empty()) return "{}";
    const auto [pointer, old] = *std::next(flat.items().begin(), static_cast<std::ptrdiff_t>(below(flat.size())));
    Json changed = json;
    Json& place = changed[Json::json_pointer(pointer)];
    switch (below(6)) {
      case 0: place = nullptr; break;
      case 1: place = Json::array({place, place}); break;
      case 2: place = Json::object({{std::string(one_of(kTexts)), place}}); break;
      case 3: place = std::string(one_of(kTexts)); break;
      default: {
        const std::string text = varied(old.is_string() ? old.template get<std::string>() : old.dump());
        const Json parsed = Json::parse(text, nullptr, false);
        place = parsed.is_discarded() || old.is_string() ? Json(text) : parsed;
      }
    }
    return changed.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string hexadecimal() {
    std::string text;
    for (std::size_t bytes = 1 + below(32); bytes > 0; --bytes) text += fmt::format("{:02x}", below(256));
    return text;
  }

  const StoreValues& values_;
  std::minstd_rand random_;
  std::vector<std::string> lines_;
};

std::vector<std::string> values_of(const store::Database& database, const std::string& table, const std::string& column) {
  store::Statement rows = database.prepare(fmt::format(
      "SELECT DISTINCT CASE typeof({0}) WHEN 'blob' THEN '0x' || hex({0}) WHEN 'null' THEN 'null' ELSE CAST({0} AS TEXT) END FROM {1} LIMIT {2}", column,
      table, kValuesPerColumn));
  std::vector<std::string> values;
  while (rows.step()) {
    std::string value;
    rows.read(value);
    if (value.size() <= kLongestValue && value.find_first_of("\t\n") == std::string::npos) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace

StoreValues values_of(const store::Database& database) {
  StoreValues values;
  for (const std::string& column : store::run_columns(database)) values["run"][column] = values_of(database, "run", column);
  for (const store::RunTable& table : store::run_tables(database)) {
    for (const std::string& column : table.columns) values[table.name][column] = values_of(database, table.name, column);
  }
  return values;
}

std::string mutated_script(std::string_view script, const StoreValues& values, unsigned seed) {
  return Mutation(script, values, seed).make();
}

}  // namespace ddbench::fuzz
