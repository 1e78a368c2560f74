#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/scaling/scaling.h"
#include "core/error.h"
#include "core/text/number_ranges.h"
#include "core/text/shell_words.h"
#include "harness/cli/analysis/report_subject.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/chakra/chakra.h"
#include "reports/formats/csv/csv.h"
#include "reports/formats/html/html.h"
#include "reports/formats/json/json.h"
#include "reports/formats/markdown/markdown.h"
#include "reports/formats/mlflow/mlflow.h"
#include "reports/formats/perfetto/perfetto.h"
#include "reports/formats/prometheus/prometheus.h"
#include "reports/formats/terminal/micro.h"
#include "reports/formats/terminal/text.h"
#include "reports/tables/next_steps.h"
#include "reports/text/output_file.h"

namespace ddbench::cli {
namespace {

struct ReportOptions {
  std::string reference = "last";
  std::string format;
  std::string rows = "runs";
  std::optional<std::string> ranks;
  std::optional<std::string> steps;
  std::string output = "-";
  std::string db;
};

std::vector<analyzer::RunSummary> summaries(const store::RunStore& store, const ReportSubject& subject) {
  std::vector<analyzer::RunSummary> result;
  for (const store::RunId& id : subject.run_ids) result.push_back(analyzer::summarize(store, id));
  return result;
}

[[noreturn]] void refuse_sweep(const std::string& sweep_id) {
  throw Error(ErrorCode::kBadInput,
              fmt::format("a trace is of one run, and {} is a sweep: name one of its runs (ddbench list --sweep {})", sweep_id,
                          shell_words({sweep_id})));
}

void write_csv(const store::RunStore& store, const ReportSubject& subject, const ReportOptions& options,
               const reports::Sink& sink) {
  if (options.rows == "steps") {
    reports::write_steps_csv(store, subject.run_ids, sink);
  } else if (options.rows == "collectives") {
    sink(reports::collectives_csv(summaries(store, subject)));
  } else {
    sink(reports::runs_csv(summaries(store, subject)));
  }
}

NumberRanges chosen(const char* option, const std::string& text, NumberRange valid, const std::string& of_what) {
  if (auto numbers = number_ranges_from(text, valid)) return *std::move(numbers);
  throw Error(ErrorCode::kBadInput, fmt::format("{} is \"{}\", but it must list numbers and ranges such as 0-3,8 within {}-{}, {}", option,
                                                text, valid.first, valid.last, of_what));
}

/// Throws Error{kBadInput} where the run has no such ranks or steps.
reports::TraceSelection trace_selection(const store::RunStore& store, const store::RunId& id, const ReportOptions& options) {
  reports::TraceSelection selection;
  if (options.ranks) {
    const std::vector<store::RankRecord> ranks = store.ranks(id);
    if (ranks.empty()) throw Error(ErrorCode::kBadInput, fmt::format("--ranks: run {} has no ranks that recorded anything", id));
    selection.ranks = chosen("--ranks", *options.ranks, {ranks.front().rank, ranks.back().rank}, fmt::format("the ranks of run {}", id));
  }
  if (options.steps) {
    const store::RunRecord run = store.run(id).value();
    const std::int64_t steps = store.recorded_steps(run);
    if (steps == 0)
      throw Error(ErrorCode::kBadInput, fmt::format("--steps: run {} has no spans of steps (were they deleted with db prune --spans?)", id));
    selection.steps = chosen("--steps", *options.steps, {0, steps - 1},
                             fmt::format("the recorded steps of run {}, of which the first {} are warm-up", id, run.run_case.warmup));
  }
  return selection;
}

void write_run(const store::RunStore& store, const store::RunId& id, const ReportOptions& options,
               const reports::TextStyle& style, const reports::Sink& sink) {
  if (options.format == "html") {
    sink(reports::run_html(reports::run_report(store, id, options.db)));
  } else if (options.format == "markdown") {
    sink(reports::run_markdown(reports::run_report(store, id, options.db)));
  } else if (options.format == "perfetto") {
    reports::write_perfetto(store, id, trace_selection(store, id, options), sink);
  } else if (const auto micro = reports::measurements_of_micro(store, store.run(id).value())) {
    sink(options.format == "json" ? reports::micro_json(*micro) + "\n" : reports::micro_text(*micro, style));
  } else if (options.format == "json") {
    sink(reports::run_json(analyzer::summarize(store, id, analyzer::SkuCatalogue::load())) + "\n");
  } else {
    const analyzer::RunSummary summary = analyzer::summarize(store, id, analyzer::SkuCatalogue::load());
    const reports::DataTable steps = reports::steps_in_store(reports::next_steps_data(store, summary), options.db);
    sink(reports::run_text(summary, style) + reports::next_steps_text(steps, style));
  }
}

void write_sweep(const store::RunStore& store, const std::string& sweep_id, const ReportOptions& options,
                 const reports::TextStyle& style, const reports::Sink& sink) {
  if (options.format == "html") {
    sink(reports::sweep_html(reports::sweep_report(store, sweep_id, options.db)));
  } else if (options.format == "markdown") {
    sink(reports::sweep_markdown(reports::sweep_report(store, sweep_id, options.db)));
  } else if (options.format == "json") {
    sink(reports::scaling_json(analyzer::scaling_table(store, sweep_id)) + "\n");
  } else if (options.format == "perfetto") {
    refuse_sweep(sweep_id);
  } else {
    const analyzer::ScalingTable table = analyzer::scaling_table(store, sweep_id);
    const reports::DataTable steps = reports::steps_in_store(reports::next_steps_data(table), options.db);
    sink(reports::scaling_text(table, style) + reports::next_steps_text(steps, style));
  }
}

void write_report(const store::RunStore& store, const ReportSubject& subject, const ReportOptions& options,
                  const reports::TextStyle& style, const reports::Sink& sink) {
  if (options.format == "csv") {
    write_csv(store, subject, options, sink);
  } else if (options.format == "prometheus") {
    sink(reports::runs_prometheus(summaries(store, subject)));
  } else if (subject.sweep_id.empty()) {
    write_run(store, subject.run_ids.front(), options, style, sink);
  } else {
    write_sweep(store, subject.sweep_id, options, style, sink);
  }
}

/// By the file's ending; the terminal's text on standard output.
std::string format_of(const std::string& output) {
  static const std::map<std::string, std::string> kFormats = {
      {".html", "html"}, {".htm", "html"}, {".md", "markdown"}, {".json", "json"}, {".csv", "csv"}, {".txt", "terminal"},
      {".prom", "prometheus"}};
  if (output == "-") return "terminal";
  std::string ending = std::filesystem::path(output).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const auto found = kFormats.find(ending); found != kFormats.end()) return found->second;
  for (const auto& [other, command] : {std::pair(".svg", "ddbench scaling --svg"), std::pair(".xml", "ddbench gate --junit")}) {
    if (ending == other)
      throw Error(ErrorCode::kBadInput, fmt::format("-o {}: a report has no such format; `{} {}` writes one", output, command, output));
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("-o {}: which format is that? Name it with --format, or give the file one of the endings .html, .md, "
                          ".json, .csv, .txt and .prom",
                          output));
}

void check_options(const ReportOptions& options) {
  if (options.rows != "runs" && options.format != "csv") {
    throw Error(ErrorCode::kBadInput,
                fmt::format("--rows {} is for --format csv, not for {}", options.rows, options.format));
  }
  for (const auto& [option, value] : {std::pair("--ranks", &options.ranks), std::pair("--steps", &options.steps)}) {
    if (*value && options.format != "perfetto")
      throw Error(ErrorCode::kBadInput, fmt::format("{} is for --format perfetto, not for {}", option, options.format));
  }
  for (const auto& [format, example] : {std::pair("mlflow", "mlruns"), std::pair("chakra", "traces")}) {
    if (options.format == format && options.output == "-")
      throw Error(ErrorCode::kBadInput, fmt::format("--format {} writes a directory: name it with -o, e.g. -o {}", format, example));
  }
}

int report_chakra(const store::RunStore& store, const ReportSubject& subject, const std::string& folder) {
  if (!subject.sweep_id.empty()) refuse_sweep(subject.sweep_id);
  const reports::ChakraExport written = reports::export_chakra(store, subject.run_ids.front(), folder);
  print_error(fmt::format("wrote {} nodes of {} rank{} to {}\n", written.nodes, written.ranks, written.ranks == 1 ? "" : "s",
                          printable(folder)));
  if (written.left_out > 0)
    print_error(fmt::format("left out {} spans of communication that Chakra has no word for, or whose peer is not known\n",
                            written.left_out));
  if (written.unknown_size > 0)
    print_error(fmt::format("{} collectives have no comm_size: what recorded them does not say it\n", written.unknown_size));
  return 0;
}

int report(const ReportOptions& options) {
  check_options(options);
  const auto store = open_store(options.db);
  const ReportSubject subject = find_report_subject(store, options.reference);
  if (options.format == "mlflow") {
    for (const store::RunId& id : subject.run_ids) reports::export_mlflow(store, id, options.output);
    print_error(fmt::format("wrote {} run{} to {}\n", subject.run_ids.size(),
                            subject.run_ids.size() == 1 ? "" : "s", printable(options.output)));
    return 0;
  }
  if (options.format == "chakra") return report_chakra(store, subject, options.output);
  if (options.output == "-") {
    write_report(store, subject, options, stdout_style(), [](std::string_view text) { print(text); });
    return 0;
  }
  reports::OutputFile file(options.output);
  write_report(store, subject, options, {}, [&](std::string_view text) { file.write(text); });
  file.commit();
  print_error(fmt::format("wrote {}\n", printable(options.output)));
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("report", "Report a run or a sweep as a page, a table or a trace");
  const auto options = std::make_shared<ReportOptions>();
  command
      ->add_option("reference", options->reference,
                   "'last', 'last-sweep', the id of a run or sweep or a part of one, or a run's name")
      ->capture_default_str();
  command
      ->add_option(
          "--format", options->format,
          "terminal; markdown, for a pull request; html, one page; csv; json; perfetto, for ui.perfetto.dev; "
          "prometheus, for its text file collector; mlflow, into a file store; chakra, execution traces for simulators. Default: by the ending of the file, on "
          "standard output terminal")
      ->check(CLI::IsMember({"terminal", "markdown", "html", "csv", "json", "perfetto", "prometheus", "mlflow", "chakra"}));
  command
      ->add_option("-o,--output", options->output, "File to write (mlflow and chakra: directory); - is standard output")
      ->capture_default_str();
  command
      ->add_option("--rows", options->rows,
                   "With csv: a row for each of runs, steps (and ranks), or collectives")
      ->check(CLI::IsMember({"runs", "steps", "collectives"}))
      ->capture_default_str();
  command->add_option("--ranks", options->ranks, "With perfetto: only these ranks, such as 0-3,8; waits stay relative to all ranks");
  command->add_option("--steps", options->steps, "With perfetto: only these steps, counted from 0 with the warm-up, such as 20-29");
  add_db_option(*command, options->db);
  add_examples(*command, {{"report -o run.html", "the newest run as one page"},
                          {"report last-sweep --format markdown", "a scaling table for a pull request"},
                          {"report --format perfetto -o trace.json", "a trace for ui.perfetto.dev"},
                          {"report --format perfetto --ranks 0-7 --steps 20-29 -o trace.json", "ten steps of eight ranks"},
                          {"report --format chakra -o traces", "MLCommons Chakra execution traces, a file a rank"},
                          {"report --format prometheus -o ddbench.prom", "gauges for Prometheus"},
                          {"report --format csv --rows steps -o steps.csv", "a row for each step and rank"}});
  command->callback([&action, options] {
    action = [options] {
      ReportOptions chosen = *options;
      if (chosen.format.empty()) chosen.format = format_of(chosen.output);
      return report(chosen);
    };
  });
}

}  // namespace ddbench::cli
