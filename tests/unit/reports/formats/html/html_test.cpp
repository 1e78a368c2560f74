#include "reports/formats/html/html.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "analyzer/store/maintenance/maintenance.h"
#include "core/error.h"
#include "sample_store_test.h"
#include "tags.h"
#include "text.h"

namespace ddbench::reports {
namespace {

using test::count;

class Html : public test::SampleStore {
 protected:
  static std::vector<std::string> pages() {
    std::vector<std::string> result = {sweep_html(sweep_report(store(), sweep_id()))};
    for (const store::RunId& id : ids()) result.push_back(run_html(run_report(store(), id)));
    return result;
  }
};

TEST_F(Html, AsksNobodyElseForAnything) {
  for (const std::string& page : pages()) {
    EXPECT_NE(page.find("Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
                        "script-src 'sha256-"),
              std::string::npos);
    EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg") + count(page, "http-equiv"));
    for (const char* tag :
         {"<link", "<img", "<iframe", "@import", "url(http", " src=", " href=", "<form", " onclick"}) {
      EXPECT_EQ(page.find(tag), std::string::npos) << tag;
    }
  }
}

TEST_F(Html, EveryElementIsClosed) {
  for (const std::string& page : pages()) {
    std::vector<std::string> open;
    const std::string body = page.substr(page.find("<body>"), page.find("<script>") - page.find("<body>"));
    for (const test::Tag& tag : test::tags_of(body)) {
      if (tag.is_empty) continue;
      if (!tag.closes) {
        open.push_back(tag.name);
      } else {
        ASSERT_FALSE(open.empty());
        ASSERT_EQ(open.back(), tag.name);
        open.pop_back();
      }
    }
    EXPECT_EQ(open, std::vector<std::string>{"body"});  // it is closed behind the script
  }
}

TEST_F(Html, IdsAreUniqueAndReferencesLead) {
  for (const std::string& page : pages()) {
    std::set<std::string> ids;
    const std::regex id(R"re( id="([^"]+)")re");
    for (std::sregex_iterator match(page.begin(), page.end(), id), end; match != end; ++match) {
      EXPECT_TRUE(ids.insert((*match)[1]).second) << (*match)[1];
    }
    const std::regex reference(R"re(url\(#([^)]+)\))re");
    for (std::sregex_iterator match(page.begin(), page.end(), reference), end; match != end; ++match) {
      EXPECT_TRUE(ids.contains((*match)[1])) << (*match)[1];
    }
  }
}

TEST_F(Html, TablesCanBeReadWithoutEyes) {
  for (const std::string& page : pages()) {
    const std::size_t tables = count(page, "<table>");
    EXPECT_GT(tables, 2u);
    EXPECT_EQ(count(page, "<caption>"), tables);
    EXPECT_GE(count(page, "<th scope=\"col\""), tables * 2);
    EXPECT_EQ(count(page, "<th scope=\"row\""), count(page, "<tr>") - tables);
    EXPECT_EQ(count(page, "role=\"region\" tabindex=\"0\""), tables);
    EXPECT_EQ(count(page, "<svg"), count(page, "role=\"img\""));
    EXPECT_NE(page.find("<html lang=\"en\">"), std::string::npos);
    EXPECT_EQ(count(page, "<h1>"), 1u);
  }
}

TEST_F(Html, ReportsTheWorstFirst) {
  const std::string invalid = run_html(run_report(store(), ids()[2]));
  const std::size_t alarm = invalid.find("INVALID, do not use these figures: replicas differ");
  ASSERT_NE(alarm, std::string::npos);
  EXPECT_LT(alarm, invalid.find("<dl class=\"tiles\">"));
  const std::string failed = run_html(run_report(store(), ids()[3]));
  EXPECT_NE(failed.find("FAILED: rank 3 on node 1 was killed by signal 9"), std::string::npos);
  const std::string sweep = sweep_html(sweep_report(store(), sweep_id()));
  EXPECT_LT(sweep.find("2 of 4 runs gave no valid figures"), sweep.find("<dl class=\"tiles\">"));
}

TEST_F(Html, SaysProvenanceAndCaveats) {
  const std::string page = run_html(run_report(store(), ids()[1]));
  EXPECT_NE(page.find("provenance: measured"), std::string::npos);
  const std::string emulated = run_html(run_report(store(), ids()[2]));
  EXPECT_NE(emulated.find("measured, emulated-network"), std::string::npos);
  EXPECT_NE(emulated.find("results do not represent a real network"), std::string::npos);
}

TEST_F(Html, AnEmptyRunHasAPageToo) {
  store::RunRecord run;
  run.id = "20261121T000000-00000000";
  run.state = store::RunState::kFailed;
  run.reason = "no rank came up";
  store().create_run(run);
  const std::string page = run_html(run_report(store(), run.id));
  EXPECT_NE(page.find("FAILED: no rank came up"), std::string::npos);
  EXPECT_EQ(page.find("<svg"), std::string::npos);
  store::prune_store(store().file(), std::vector{run.id}, store::PruneWhat::kRuns);
}

TEST_F(Html, ServedPagesLeadToEachOther) {
  RunListPage list{.store = "a<b.db", .filters = {{"name", "name", "\"><script>"}}, .alarms = {"run x<y is left out"}, .runs = {}};
  for (const store::RunId& id : ids()) list.runs.push_back(analyzer::summarize(store(), id));
  const std::string page = run_list_html(list, {"../"});
  for (const store::RunId& id : ids()) EXPECT_EQ(count(page, "<a href=\"../run/" + id + "\">"), 1) << id;
  EXPECT_EQ(count(page, "<a href=\"../sweep/" + std::string(sweep_id()) + "\">"), 1);
  EXPECT_NE(page.find("a&lt;b.db"), std::string::npos);
  EXPECT_NE(page.find("value=\"&quot;&gt;&lt;script&gt;\""), std::string::npos);
  EXPECT_NE(page.find("run x&lt;y is left out"), std::string::npos);
  const PageLinks links{"../"};
  const std::string run = run_html(run_report(store(), ids()[1]), &links);
  EXPECT_NE(run.find("<nav aria-label=\"Pages\"><a href=\"../\">all runs</a><a href=\"../sweep/"), std::string::npos);
  EXPECT_EQ(count(message_html("Not found", "no run\n<b>", {"./"}), "<p class=\"verdict\">"), 2);
}

TEST_F(Html, AStrangersSweepIsOneSegmentOfAnAddress) {
  RunListPage list;
  list.runs.push_back(analyzer::summarize(store(), ids().front()));
  list.runs.front().run.sweep_id = "a\"><b c?d=#%/e";
  EXPECT_NE(run_list_html(list, {}).find("<a href=\"./sweep/a%22%3E%3Cb%20c%3Fd%3D%23%25%2Fe\">"), std::string::npos);
}

TEST_F(Html, UnknownReferencesAreErrors) {
  EXPECT_THROW(run_report(store(), "nosuch"), Error);
  EXPECT_THROW(sweep_report(store(), "nosuch"), Error);
}

}  // namespace
}  // namespace ddbench::reports
