// Jobs of a page by slot: what one shows, says or fails with stays until it does so again, and what is late is not shown.

#include <gtest/gtest.h>

#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/error.h"
#include "gui/charts/figure_card.h"
#include "gui/pages/overview_page.h"
#include "gui/pages/speedup_page.h"
#include "gui/pages/what_if_page.h"
#include "gui/tables/table_card.h"
#include "gui_window.h"
#include "sample_store.h"

namespace ddbench::gui {
namespace {

bool page_says(const Page& page, const QString& title) {
  for (const QLabel* label : page.findChildren<QLabel*>(QStringLiteral("emptyTitle"))) {
    if (label->isVisible() && label->text() == title) return true;
  }
  return false;
}

/// Loads what the test wants.
class SlotsPage : public Page {
 public:
  explicit SlotsPage(Workspace& workspace) : Page(workspace, QStringLiteral("Slots"), QStringLiteral("of a test")) {}

  using Page::show_message;
  using Page::start;
  using Page::stop;
  std::function<void(SlotsPage&)> loads;
  std::string wanted;  ///< key
  int loaded = 0;

 protected:
  void load() override {
    ++loaded;
    loads(*this);
  }
  std::string key() const override { return wanted; }
};

class PageSlots : public testing::Test {
 protected:
  PageSlots() {
    workspace.changed = [] {};
  }

  void start_failing(const std::string& slot) {
    page.start<int>(
        slot, [](JobContext&) -> int { throw Error(ErrorCode::kBadInput, "no such thing"); }, [](int) {});
  }
  /// Delivers once the gate is open.
  void start_gated(const std::string& slot, std::function<void()> show) {
    page.start<int>(
        slot,
        [is_open = gate](JobContext& context) {
          while (!*is_open) {
            context.check();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
          return 1;
        },
        [show = std::move(show)](int) { show(); });
  }
  void load_all() {
    *gate = true;
    EXPECT_TRUE(wait_until([&] { return jobs.is_idle(); }));
  }

  std::shared_ptr<std::atomic<bool>> gate = std::make_shared<std::atomic<bool>>(false);
  StoreJobs jobs{"none.db"};
  Workspace workspace{jobs};
  SlotsPage page{workspace};
};

TEST_F(PageSlots, AnErrorStaysUntilItsSlotDelivers) {
  bool shown = false;
  page.loads = [&](SlotsPage&) {
    start_failing("bad");
    start_gated("good", [&] { shown = true; });
  };
  page.show();
  ASSERT_TRUE(wait_until([&] { return !page.error_text().isEmpty(); }));
  load_all();
  EXPECT_TRUE(shown);
  EXPECT_EQ(page.error_text(), QStringLiteral("no such thing"));
  start_failing("other");
  load_all();
  EXPECT_EQ(page.error_text(), QStringLiteral("no such thing\nno such thing"));
  start_gated("bad", [] {});
  load_all();
  EXPECT_EQ(page.error_text(), QStringLiteral("no such thing"));
  page.stop("other");
  EXPECT_EQ(page.error_text(), QString());
}

TEST_F(PageSlots, AMessageStaysUntilItsSlotDelivers) {
  page.loads = [&](SlotsPage&) {
    page.start<int>("empty", [](JobContext&) { return 1; },
                    [this](int) { page.show_message(QStringLiteral("Nothing there"), {}); });
    start_gated("good", [] {});
  };
  page.show();
  ASSERT_TRUE(wait_until([&] { return page_says(page, QStringLiteral("Nothing there")); }));
  load_all();
  EXPECT_TRUE(page_says(page, QStringLiteral("Nothing there"))) << "another slot has something to show";
  start_gated("empty", [] {});
  load_all();
  EXPECT_FALSE(page_says(page, QStringLiteral("Nothing there")));
}

TEST_F(PageSlots, WhatIsLateIsNotShownOfOtherRuns) {
  bool late = false;
  bool right = false;
  page.loads = [&](SlotsPage&) { start_gated("of the first only", [&] { late = true; }); };
  page.show();
  page.loads = [&](SlotsPage&) { start_gated("of the second", [&] { right = true; }); };
  page.wanted = "other runs";
  page.refresh();
  load_all();
  EXPECT_TRUE(right);
  EXPECT_FALSE(late);
}

TEST_F(PageSlots, UnloadedPagesLoadAgainThoughTheirKeyIsTheSame) {
  int shown = 0;
  page.loads = [&](SlotsPage&) { start_gated("any", [&] { ++shown; }); };
  page.show();
  EXPECT_TRUE(page.is_loading());
  page.unload(QStringLiteral("Stopped"), {});
  EXPECT_FALSE(page.is_loading());
  load_all();
  EXPECT_EQ(shown, 0);
  EXPECT_TRUE(page_says(page, QStringLiteral("Stopped")));
  page.refresh();
  load_all();
  EXPECT_EQ(page.loaded, 2);
  EXPECT_EQ(shown, 1);
  EXPECT_FALSE(page_says(page, QStringLiteral("Stopped")));
}

/// Of what was recorded of a run, only what `keeps` wants stays.
void thin_out(store::RunStore& store, const store::RunId& run, const std::function<bool(const Span&)>& keeps) {
  const std::vector<store::RankRecord> ranks = store.ranks(run);
  std::vector<std::vector<Span>> spans;
  std::vector<std::vector<std::string>> names;
  for (const store::RankRecord& rank : ranks) {
    spans.push_back(store.spans(run, rank.rank));
    names.push_back(store.span_names(run, rank.rank));
    std::erase_if(spans.back(), [&keeps](const Span& span) { return !keeps(span); });
  }
  store.delete_spans(run);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!spans[i].empty()) store.append_spans(run, ranks[i].rank, spans[i], names[i]);
  }
}

/// Runs of two nodes in one sweep: one as recorded, one without its collectives, one without any spans.
class WhatIfRuns : public testing::Test {
 protected:
  WhatIfRuns() {
    {
      auto store = store::RunStore::open(directory / "runs.db", store::OpenMode::kReadWrite);
      for (int number = 0; number < 3; ++number) {
        test::SampleRun run;
        run.number = number;
        run.run_case.nodes = 2;
        run.run_case.link = "1gbit";
        run.run_case.steps = 12;
        run.sweep_id = "sweep-20261121T020000-0a1b2c3d";
        runs.push_back(test::add_sample_run(store, run));
      }
      thin_out(store, runs[1], [](const Span& span) { return span.kind != SpanKind::kCommunication; });
      thin_out(store, runs[2], [](const Span&) { return false; });
    }
    window = std::make_unique<MainWindow>(WindowOptions{directory / "runs.db", nullptr});
    window->show();
    settle(*window);
    window->open_page(PageId::kWhatIf);
    choose(0);
    settle(*window);
  }

  void choose(std::size_t run) { window->workspace().choose_run(runs[run], window->workspace().subject); }
  WhatIfPage& page() { return static_cast<WhatIfPage&>(window->page(PageId::kWhatIf)); }

  ScratchDirectory directory;
  std::vector<store::RunId> runs;
  std::unique_ptr<MainWindow> window;
};

TEST_F(WhatIfRuns, AdviceOfOneIsNotShownForAnotherWithoutAny) {
  EXPECT_GT(page().advice().table().cells().rowCount(), 0);
  QString words;
  for (const QLabel* label : page().advice().findChildren<QLabel*>(QStringLiteral("note"))) words += label->text();
  EXPECT_TRUE(words.contains(QStringLiteral("by replays of the recorded step"))) << words.toStdString();
  choose(1);
  settle(*window);
  EXPECT_FALSE(page_says(page(), QStringLiteral("This run cannot be replayed"))) << "its steps were recorded";
  EXPECT_EQ(page().advice().table().cells().rowCount(), 0);
}

TEST_F(WhatIfRuns, ACurveThatIsLateIsNotShownForAnother) {
  const auto& figure = page().throughput().view().figure();
  ASSERT_EQ(figure.series.size(), 3U);
  page().batch().setValue(3);  // starts a job, which delivers when events are handled
  choose(2);
  settle(*window);
  EXPECT_TRUE(page_says(page(), QStringLiteral("This run cannot be replayed")));
  EXPECT_TRUE(figure.series.empty());
}

class CancelledLoads : public testing::Test {
 protected:
  CancelledLoads() : window({sample_store_file(), nullptr}) {
    window.show();
    settle(window);
  }

  void cancel() {
    for (auto* button : window.findChildren<QPushButton*>()) {
      if (button->text() == QStringLiteral("Cancel")) button->click();
    }
  }
  /// Several, of different sizes; the pages begin to load them.
  void choose_others() {
    const Entries all = window.workspace().index.all();
    window.workspace().choose_runs({all[0]->run().id, all[1]->run().id, all[2]->run().id});
  }

  MainWindow window;
};

TEST_F(CancelledLoads, APageShowsNoFiguresOfEarlierRunsAndLoadsWhenAsked) {
  window.open_page(PageId::kSpeedup);
  settle(window);
  auto& page = static_cast<SpeedupPage&>(window.page(PageId::kSpeedup));
  const QString cancelled = QStringLiteral("Loading was cancelled");
  EXPECT_FALSE(page.speedup().view().figure().series.empty());
  choose_others();
  ASSERT_TRUE(page.is_loading());
  cancel();
  EXPECT_TRUE(page_says(page, cancelled));
  EXPECT_TRUE(page.speedup().view().figure().series.empty());
  page.refresh();  // as of the next list: the choice is the same, and not loaded
  settle(window);
  EXPECT_FALSE(page_says(page, cancelled));
  EXPECT_FALSE(page.speedup().view().figure().series.empty() && page.error_text().isEmpty());
}

TEST_F(CancelledLoads, TheOverviewKeepsItsRunsAndComparesAgain) {
  window.open_page(PageId::kOverview);
  settle(window);
  auto& page = static_cast<OverviewPage&>(window.page(PageId::kOverview));
  const std::size_t runs = page.rows().visible_runs().size();
  choose_others();
  page.reload();
  ASSERT_TRUE(page.is_loading());
  cancel();
  EXPECT_FALSE(page_says(page, QStringLiteral("Loading was cancelled"))) << "its runs are there";
  EXPECT_EQ(page.rows().visible_runs().size(), runs);
  EXPECT_TRUE(page.comparison_card().view().figure().series.empty());
  page.refresh();
  settle(window);
  EXPECT_FALSE(page.comparison_card().view().figure().series.empty());
}

}  // namespace
}  // namespace ddbench::gui
