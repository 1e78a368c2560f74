#include "analyzer/import/table/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/import/numbers.h"
#include "analyzer/import/table/case_fields.h"
#include "analyzer/import/table/column_names.h"
#include "analyzer/import/table/report_csv.h"
#include "core/error.h"
#include "core/facts/facts.h"

namespace ddbench::imports {
namespace {

constexpr std::string_view kStepTime = "step_time";
constexpr std::int64_t kMostSamples = std::int64_t{1} << 40;  // as validate(RunCase) has it

/// "step_time_ms", "step_time [ms]" and "throughput (images/s)" in their parts.
struct HeaderCell {
  std::string name;
  std::string unit;
};

HeaderCell split_unit(std::string_view text) {
  HeaderCell cell;
  text = trimmed(text);
  const std::size_t open = text.find_first_of("[(");
  if (open != std::string_view::npos && (text.back() == ']' || text.back() == ')')) {
    cell.unit = std::string(trimmed(text.substr(open + 1, text.size() - open - 2)));
    text = trimmed(text.substr(0, open));
  }
  cell.name = lower_case(text);
  if (cell.unit.empty() && cell.name.rfind(std::string(kStepTime) + "_", 0) == 0) {
    cell.unit = cell.name.substr(kStepTime.size() + 1);
    cell.name = kStepTime;
  }
  return cell;
}

SetCell positive_integer(std::int64_t RowValues::*member, std::int64_t most) {
  return [member, most](RowValues& row, const std::string& cell) -> std::string {
    if (cell.empty()) return {};
    const std::optional<std::int64_t> value = integer_from(cell);
    if (!value || *value < 1) return fmt::format("\"{}\" is not a whole number above 0", cell);
    if (*value > most) return fmt::format("{} is more than {}", *value, most);
    row.*member = *value;
    return {};
  };
}

SetCell positive_number(double RowValues::*member, double factor) {
  return [member, factor](RowValues& row, const std::string& cell) -> std::string {
    if (cell.empty()) return {};
    const std::optional<double> value = number_from(cell);
    if (!value || *value <= 0) return fmt::format("\"{}\" is not a number above 0", cell);
    row.*member = *value * factor;
    return {};
  };
}

SetCell case_field(const std::string& name, FieldType type) {
  return [name, type](RowValues& row, const std::string& cell) -> std::string {
    if (cell.empty()) return {};  // not stated: the default
    std::string wrong = wrong_with(type, cell);
    if (wrong.empty()) row.case_fields[name] = cell;
    return wrong;
  };
}

SetCell sample_rate(double RowValues::*member, const std::string& samples) {
  const std::string unit = lower_case(samples);
  const bool is_of_tokens = unit.find("token") != std::string::npos || unit == "tok" || unit == "toks";
  return [set = positive_number(member, 1), samples, is_of_tokens](RowValues& row, const std::string& cell) {
    if (!samples.empty()) set_fact(row.facts, fact_key<"import.sample_unit">, samples);
    row.counts_tokens = row.counts_tokens || (is_of_tokens && !cell.empty());
    return set(row, cell);
  };
}

class Header {
 public:
  Header(const TableOptions& options, const std::vector<std::string>& header, const std::string& origin, int line, bool is_report)
      : options_(options), origin_(origin), line_(line), is_report_(is_report) {
    for (const std::string& cell : header) given_.insert(split_unit(cell).name);
  }

  Column column(const std::string& text) {
    ++number_;
    const std::string original(trimmed(text));
    if (original.empty()) fail("has no name");
    Column column{original, {}, {}};
    if (const auto set = is_report_ ? report_csv_column(original) : std::nullopt) return {original, original, *set};
    const auto renamed = options_.rename.find(original);
    HeaderCell cell = split_unit(renamed == options_.rename.end() ? original : renamed->second);
    if (renamed == options_.rename.end()) use_known_name(cell);
    for (const std::string& name : {original, cell.name}) {
      if (const auto unit = options_.units.find(name); unit != options_.units.end()) cell.unit = unit->second;
      seen_.insert(name);
    }
    if (!names_.insert(cell.name).second) fail(fmt::format("\"{}\" is there twice", cell.name));
    column.key = cell.name;
    column.set = setter(cell, original);
    return column;
  }

  void finish() const {
    for (const auto* map : {&options_.rename, &options_.units}) {
      for (const auto& [name, ignored] : *map) {
        if (seen_.count(name) == 0) {
          throw Error(ErrorCode::kBadInput,
                      fmt::format("{} has no column \"{}\" to rename or give a unit to", origin_, name), 0,
                      origin_);
        }
      }
    }
    if (!has_metric_) {
      throw Error(
          ErrorCode::kBadInput,
          fmt::format("{} line {}: no column is a metric: there must be a throughput, throughput_per_gpu or "
                      "step_time (--rename COLUMN=step_time_ms names one)",
                      origin_, line_),
          0, origin_);
    }
  }

 private:
  /// Other words for a known column; not where the table has that column itself, or another that means it.
  void use_known_name(HeaderCell& cell) const {
    for (const std::string_view second : {"/sec", "/second"}) {
      if (cell.unit.ends_with(second)) cell.unit.resize(cell.unit.size() - second.size() + 2);
    }
    const KnownColumn known = known_column(cell.name);
    if (given_.count(known.name) != 0 || names_.count(known.name) != 0) return;
    if (cell.unit.empty()) cell.unit = known.unit;
    cell.name = known.name;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{} line {}, column {}: {}", origin_, line_, number_, what),
                0, origin_);
  }

  SetCell metric(const HeaderCell& cell) {
    has_metric_ = true;
    if (cell.name == kStepTime) {
      const std::optional<double> ns = nanoseconds_of(cell.unit);
      if (!ns) {
        fail(fmt::format(
            "step_time {}: write step_time_ms (ns, us, ms, s, min, h or d), or give --unit step_time=ms",
            cell.unit.empty() ? "has no unit" : "in \"" + cell.unit + "\" is not known"));
      }
      return positive_number(&RowValues::step_ns, *ns);
    }
    const std::size_t slash = cell.unit.rfind("/s");
    if (!cell.unit.empty() && (slash == std::string::npos || slash + 2 != cell.unit.size() || slash == 0)) {
      fail(fmt::format("{} in \"{}\" is not known: it must be something a second, such as images/s",
                       cell.name, cell.unit));
    }
    const std::string samples = cell.unit.substr(0, cell.unit.empty() ? 0 : slash);
    return sample_rate(
        cell.name == "throughput" ? &RowValues::samples_per_s : &RowValues::samples_per_s_per_gpu, samples);
  }

  SetCell setter(const HeaderCell& cell, const std::string& original) {
    if (cell.name == kStepTime || cell.name == "throughput" || cell.name == "throughput_per_gpu")
      return metric(cell);
    if (cell.name == "gpus") return positive_integer(&RowValues::gpus, kMostRanks);
    if (cell.name == "nodes") return positive_integer(&RowValues::nodes, kMostRanks);
    if (cell.name == "gpus_per_node") return positive_integer(&RowValues::gpus_per_node, kMostRanks);
    if (cell.name == "tensor_parallel" || cell.name == "tp")
      return positive_integer(&RowValues::tensor_parallel, kMostRanks);
    if (cell.name == "pipeline_parallel" || cell.name == "pp")
      return positive_integer(&RowValues::pipeline_parallel, kMostRanks);
    if (cell.name == "context_parallel" || cell.name == "cp")
      return positive_integer(&RowValues::context_parallel, kMostRanks);
    if (cell.name == "accumulation") return case_field("accumulate", FieldType::kInteger);
    if (cell.name == "global_batch") return positive_integer(&RowValues::global_batch, kMostSamples);
    if (cell.name == "network") {
      return [](RowValues& row, const std::string& text) -> std::string {
        row.network = text;
        return {};
      };
    }
    const auto& fields = case_fields();
    if (const auto field = fields.find(cell.name);
        field != fields.end() && field->second != FieldType::kMap) {
      return case_field(cell.name, field->second);
    }
    const std::size_t dot = original.find('.');
    const std::string map = lower_case(original.substr(0, dot));
    if (const auto field = fields.find(map); dot != std::string::npos && field != fields.end() &&
                                             field->second == FieldType::kMap && dot + 1 < original.size()) {
      return case_field(map + original.substr(dot), FieldType::kText);
    }
    return case_field("tags." + original, FieldType::kText);
  }

  const TableOptions& options_;
  const std::string& origin_;
  int line_;
  bool is_report_;
  int number_ = 0;
  bool has_metric_ = false;
  std::set<std::string> given_;  ///< all headings, in lower case and without units
  std::set<std::string> names_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<Column> table_columns(const std::vector<std::string>& header, const TableOptions& options,
                                  const std::string& origin, int line) {
  Header reader(options, header, origin, line, is_report_csv(header));
  std::vector<Column> columns;
  for (const std::string& cell : header) columns.push_back(reader.column(cell));
  reader.finish();
  return columns;
}

}  // namespace ddbench::imports
