#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "hostile_names.h"
#include "parsed_csv.h"
#include "reports/formats/csv/csv.h"
#include "reports/formats/html/html.h"
#include "reports/formats/json/json.h"
#include "reports/formats/markdown/markdown.h"
#include "reports/formats/mlflow/mlflow.h"
#include "reports/formats/perfetto/perfetto.h"
#include "reports/formats/prometheus/prometheus.h"
#include "reports/formats/terminal/text.h"
#include "sample_store_test.h"
#include "tags.h"

namespace ddbench::reports {
namespace {

namespace fs = std::filesystem;

/// A run that has one of the names wherever a name may stand, with another one as key.
store::RunId add_hostile_run(store::RunStore& store, const std::string& name, int number) {
  test::SampleRun sample;
  sample.number = number;
  sample.run_case.nodes = 2;
  sample.run_case.steps = 4;
  sample.run_case.warmup = 1;
  sample.sweep_id = "sweep-hostile";
  const store::RunId id = test::add_sample_run(store, sample);
  store::RunRecord run = *store.run(id);
  run.run_case.name = run.run_case.link = run.run_case.sku = run.run_case.precision =
      name;
  run.run_case.tags = {{name, name}};
  std::get<ReferenceWorkload>(run.run_case.work).options = {{name, name}};
  run.reason = run.invalid_reason = name;
  run.valid = false;
  run.state = store::RunState::kFailed;
  run.environment.network = run.environment.fingerprint = name;
  run.environment.facts[name] = name;
  store.update_run(run);
  std::vector<store::RankRecord> ranks = store.ranks(id);
  for (store::RankRecord& rank : ranks) rank.host = rank.cores = rank.outcome = rank.parameter_hash = name;
  store.put_ranks(id, ranks);
  std::vector<store::KernelRecord> kernels = store.kernels(id);
  for (store::KernelRecord& kernel : kernels) kernel.name = kernel.kind = name;
  store.put_kernels(id, kernels);
  std::vector<store::CollectiveRecord> collectives = store.collectives(id);
  for (store::CollectiveRecord& collective : collectives) collective.function = name;
  store.put_collectives(id, collectives);
  return id;
}

bool has_control_in_lines(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; });
}

/// Only the program's own elements, one script, and no attribute that runs or loads anything.
void expect_no_active_content(const std::string& page) {
  static const std::set<std::string> kOwn = {
      "html", "head",  "meta",    "title",   "style",      "body",    "main",    "header", "h1",
      "h2",   "h3",    "p",       "ul",      "li",         "strong",  "dl",      "div",    "dt",
      "dd",   "small", "section", "figure",  "figcaption", "details", "summary", "table",  "caption",
      "span", "thead", "tbody",   "tfoot",   "tr",         "th",      "td",      "code",   "script",
      "svg",  "desc",  "defs",    "pattern", "g",          "path",    "rect",    "line",   "text"};
  std::size_t scripts = 0;
  for (const test::Tag& tag : test::tags_of(page.substr(0, page.rfind("<script>") + 8))) {
    EXPECT_TRUE(kOwn.contains(tag.name)) << tag.name;
    scripts += tag.name == "script";
    for (const std::string& name : test::attribute_names(tag.attributes)) {
      EXPECT_TRUE(name.rfind("on", 0) != 0 && name != "src" && name != "href" && name != "style")
          << tag.name << tag.attributes;
    }
  }
  EXPECT_EQ(scripts, 1u);
}

/// Markdown without code spans and escaped characters: what is left is markup.
std::string markup_of(const std::string& markdown) {
  std::string left;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown[i] == '\\') {
      ++i;
    } else if (markdown[i] == '`') {
      const std::size_t fence = markdown.find_first_not_of('`', i) - i;
      std::size_t end = i + fence;
      do {
        end = markdown.find(std::string(fence, '`'), end);
        if (end == std::string::npos) return left + " <unclosed code span>";
        const std::size_t after = std::min(markdown.find_first_not_of('`', end), markdown.size());
        if (after - end == fence) break;
        end = after;
      } while (true);
      i = end + fence - 1;
    } else {
      left += markdown[i];
    }
  }
  return left;
}

void expect_harmless_markdown(const std::string& text) {
  EXPECT_FALSE(has_control_in_lines(text));
  const std::string markup = markup_of(text);
  static const std::set<std::string> kOwn = {"details", "summary", "sub"};
  for (const test::Tag& tag : test::tags_of(markup)) EXPECT_TRUE(kOwn.contains(tag.name)) << tag.name;
  for (const char* bad : {"](", "![", "://", "@e", "#1", "www.e", "<unclosed"})
    EXPECT_EQ(markup.find(bad), std::string::npos) << bad;
}

class Hostile : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    id_ = add_hostile_run(store_, test::hostile_names()[GetParam()], static_cast<int>(GetParam()));
  }

  test::ScratchDirectory scratch_;
  store::RunStore store_ = store::RunStore::open(scratch_.path() / "s.db", store::OpenMode::kReadWrite);
  store::RunId id_;
};

TEST_P(Hostile, IsHarmlessEverywhere) {
  const RunReport run = run_report(store_, id_);
  const SweepReport sweep = sweep_report(store_, "sweep-hostile");
  for (const std::string& page : {run_html(run), sweep_html(sweep)}) {
    expect_no_active_content(page);
    EXPECT_FALSE(has_control_in_lines(page));
  }
  for (const std::string& text : {run_markdown(run), sweep_markdown(sweep)}) expect_harmless_markdown(text);
  for (const std::string& text : {run_text(run.summary, {}), scaling_text(sweep.table, {})})
    EXPECT_FALSE(has_control_in_lines(text));
  for (const std::string& text : {run_json(run.summary), scaling_json(sweep.table)})
    EXPECT_TRUE(nlohmann::json::accept(text));
  const std::vector<analyzer::RunSummary> runs = {run.summary};
  for (const std::string& text : {runs_csv(runs), collectives_csv(runs)}) {
    EXPECT_FALSE(has_control_in_lines(text));
    for (const auto& row : test::parsed_csv(text)) {
      for (const std::string& field : row) {
        const bool number = !field.empty() && field.find_first_not_of("-+.0123456789e") == std::string::npos;
        EXPECT_TRUE(number || field.empty() ||
                    std::string_view("=+-@").find(field.front()) == std::string_view::npos)
            << field;
      }
    }
  }
  std::string trace;
  write_perfetto(store_, id_, {}, [&](std::string_view piece) { trace += piece; });
  EXPECT_TRUE(nlohmann::json::accept(trace));
  EXPECT_FALSE(has_control_in_lines(trace));
}

TEST_P(Hostile, StaysInsideOfItsLineForPrometheus) {
  const std::vector runs = {analyzer::summarize(store_, id_)};
  const std::string text = runs_prometheus(runs);
  EXPECT_FALSE(has_control_in_lines(text));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.starts_with("# ") || line.starts_with("ddbench_")) << line;
}

TEST_P(Hostile, StaysInsideOfTheMlflowStore) {
  const fs::path root = scratch_.path() / "deep" / "mlruns";
  const MlflowRun run = export_mlflow(store_, id_, root);
  for (const auto& entry : fs::recursive_directory_iterator(scratch_.path())) {
    const fs::path relative = entry.path().lexically_relative(scratch_.path());
    EXPECT_TRUE(*relative.begin() == "deep" || relative.string().rfind("s.db", 0) == 0) << relative;
    if (entry.is_regular_file() && entry.path().parent_path().filename() == "tags") {
      EXPECT_FALSE(has_control_in_lines(test::content_of(entry.path()))) << relative;
    }
  }
  for (const char* kind : {"params", "tags", "metrics"}) {
    for (const auto& entry : fs::directory_iterator(run.directory / kind))
      EXPECT_TRUE(entry.is_regular_file());
  }
  std::istringstream meta(test::content_of(run.directory / "meta.yaml"));
  int lines = 0;
  for (std::string line; std::getline(meta, line); ++lines)
    EXPECT_TRUE(std::regex_match(line, std::regex(R"re([a-z_]+: .*)re"))) << line;
  EXPECT_EQ(lines, 15);
}

INSTANTIATE_TEST_SUITE_P(Names, Hostile, testing::Range<std::size_t>(0, test::hostile_names().size()));

}  // namespace
}  // namespace ddbench::reports
