#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/micro.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/tables/analysis/analysis_tables.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::MicroOperation;
using analyzer::MicroRow;
using analyzer::MicroTable;
using analyzer::MicroTiming;

/// Four digits if they fit, as in the output of nccl-tests.
std::string digits(double value) {
  if (value >= 1000) return fmt::format("{:.0f}", value);
  return value >= 100 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string timing_columns(const std::optional<MicroTiming>& timing) {
  if (!timing) return fmt::format("  {:>9} {:>7} {:>7} {:>6}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format("  {:>9} {:>7} {:>7} {:>6}", digits(timing->time_ns / 1e3),
                     digits(timing->algbw_gb_per_s), digits(timing->busbw_gb_per_s), timing->wrong);
}

std::string head(MicroOperation operation) {
  constexpr const char* kTiming = "  {:>9} {:>7} {:>7} {:>6}";
  std::string text = fmt::format("# Collective test starting: {}_perf\n", analyzer::to_string(operation));
  text += fmt::format("#{:>11} {:>12} {:>8} {:>6} {:>6}  {:^32}  {:^32}\n", "", "", "", "", "",
                      "out-of-place", "in-place");
  text += fmt::format("#{:>11} {:>12} {:>8} {:>6} {:>6}", "size", "count", "type", "redop", "root");
  for (int i = 0; i < 2; ++i) text += fmt::format(fmt::runtime(kTiming), "time", "algbw", "busbw", "#wrong");
  text += fmt::format("\n#{:>11} {:>12} {:>8} {:>6} {:>6}", "(B)", "(elements)", "", "", "");
  for (int i = 0; i < 2; ++i) text += fmt::format(fmt::runtime(kTiming), "(us)", "(GB/s)", "(GB/s)", "");
  return text + "\n";
}

std::string collective_section(const MicroTable& table, MicroOperation operation, const Paint& paint) {
  std::string text;
  double busbw_sum = 0;
  std::int64_t wrong = 0;
  int timings = 0;
  for (const MicroRow& row : table.rows) {
    if (row.operation != operation) continue;
    text += fmt::format("{:>12} {:>12} {:>8} {:>6} {:>6}{}{}\n", row.bytes, row.count, "float", row.redop,
                        row.root, timing_columns(row.out_of_place), timing_columns(row.in_place));
    for (const auto& timing : {row.out_of_place, row.in_place}) {
      if (!timing) continue;
      busbw_sum += timing->busbw_gb_per_s;
      wrong += timing->wrong;
      ++timings;
    }
  }
  if (timings == 0) return {};
  text = "\n" + paint(Tone::kFaint, head(operation)) + text;
  text += paint(wrong == 0 ? Tone::kFaint : Tone::kAlarm,
                fmt::format("# Out of bounds values : {} {}", wrong, wrong == 0 ? "OK" : "FAILED"));
  return text + "\n" +
         paint(Tone::kFaint, fmt::format("# Avg bus bandwidth    : {}", digits(busbw_sum / timings))) + "\n";
}

std::string ceilings_section(const MicroTable& table, const Paint& paint) {
  if (table.ceilings.empty()) return {};
  std::string text = "\n" + paint(Tone::kStrong, "Ceilings of a rank, while all ranks ask for them") + "\n";
  for (const analyzer::MicroCeiling& ceiling : table.ceilings) {
    const bool gemm = ceiling.operation == MicroOperation::kGemm;
    text += fmt::format("  {:<32} {:>7} {}, slowest rank {}\n",
                        gemm ? "GEMM, float32" : "memory, bytes read and written",
                        digits(ceiling.per_second * 1e-9), gemm ? "GFLOP/s" : "GB/s",
                        digits(ceiling.slowest_per_second * 1e-9));
  }
  return text;
}

}  // namespace

std::string micro_text(const MicroTable& table, const TextStyle& style) {
  const Paint paint(style.color);
  const LineWidth width = line_width(style);
  const store::RunRecord& run = table.run;
  std::string text =
      paint(Tone::kStrong, fmt::format("Collectives and ceilings, {}", shape_in_words(run.run_case))) + "\n" +
      fmt::format("run {} · {}", run.id, provenance_in_words(run.provenance)) + "\n";
  if (const std::string network = visible(run.environment.network); !network.empty())
    text += fmt::format("network {} · transport {}\n", network,
                        visible(get_fact(run.environment.facts, fact_key<"transport">).value_or("")));
  for (int i = 0; i < analyzer::kMicroOperationCount; ++i)
    text += collective_section(table, static_cast<MicroOperation>(i), paint);
  text += ceilings_section(table, paint);
  if (const auto fits = fits_of(table); !fits.empty()) text += "\n" + data_table_text(fits_data(fits, ""), paint, width);
  if (const std::string section = notes_section(table.notes, paint, width); !section.empty())
    text += "\n" + section;
  return text;
}

}  // namespace ddbench::reports
