// The example store of `ddbench gui --demo`: what a first-time user meets.

#include <gtest/gtest.h>

#include <QLabel>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "gui/charts/figure_card.h"
#include "gui/models/run_columns.h"
#include "gui/window/all_pages.h"
#include "gui_window.h"
#include "layout_check.h"

namespace ddbench::gui {
namespace {

/// A reader of a store leaves files beside it.
std::filesystem::path copy_of_the_store(const ScratchDirectory& directory) {
  std::filesystem::copy_file(DDBENCH_DEMO_STORE, directory / "demo.db");
  return directory / "demo.db";
}

class Demo : public testing::Test {
 protected:
  Demo() : window({copy_of_the_store(directory), nullptr}) {
    window.show();
    settle(window);
  }

  Page& open(int i) {
    window.open_page(static_cast<PageId>(i));
    settle(window);
    return window.page(static_cast<PageId>(i));
  }

  ScratchDirectory directory;
  MainWindow window;
};

TEST_F(Demo, EveryPageShowsChartsAndRowsAtFirst) {
  for (int i = 0; i < kPageCount; ++i) {
    const Page& page = open(i);
    const std::string name = page_title(static_cast<PageId>(i)).toStdString();
    EXPECT_EQ(page.error_text(), QString()) << name;
    for (const QLabel* label : page.findChildren<QLabel*>(QStringLiteral("emptyTitle")))
      EXPECT_FALSE(label->isVisible()) << name << ": " << label->text().toStdString();
    int drawn = 0;
    for (FigureCard* card : cards_of(page)) {
      if (!card->isVisible()) continue;
      EXPECT_FALSE(card->view().chart().empty()) << name << ": " << card->view().figure().title;
      ++drawn;
    }
    EXPECT_TRUE(drawn > 0 || static_cast<PageId>(i) == PageId::kTimeline) << name;
  }
}

TEST_F(Demo, PublishedFiguresAreImportedWithTheirSourceAndOlderThanRecordedRuns) {
  std::set<std::string> skus;
  std::set<std::string> networks;
  std::set<int> batches;
  bool recorded = true;
  for (const RunEntry& entry : *window.workspace().runs) {
    const store::RunRecord& run = entry.run();
    const bool imported = run.provenance.has(Provenance::kImported);
    EXPECT_TRUE(recorded || imported) << run.id << " was recorded before figures were imported";
    recorded = !imported;
    if (!imported) continue;
    const auto source = run.run_case.tags.find("source");
    ASSERT_NE(source, run.run_case.tags.end()) << run.id;
    EXPECT_EQ(source->second.rfind("https://", 0), 0U) << source->second;
    const std::string shown = text_of(entry, RunColumn::kSource).toStdString();
    EXPECT_EQ(shown, source->second + " · SKU: " + run.run_case.tags.at("sku_is"));
    EXPECT_EQ(run.run_case.device + run.run_case.backend + run.run_case.strategy + run.run_case.optimizer, "")
        << run.id << ": its source does not state them";
    skus.insert(run.run_case.sku);
    networks.insert(run.environment.network);
    batches.insert(static_cast<int>(run.run_case.batch_per_gpu));
  }
  EXPECT_FALSE(recorded);
  EXPECT_GE(skus.size(), 3U);
  EXPECT_GE(networks.size(), 2U);
  EXPECT_GE(batches.size(), 5U);
}

TEST(DemoStore, NamesNeitherMachineNorUserNorFoldersThatRecordedIt) {
  std::ifstream file(DDBENCH_DEMO_STORE, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_NE(content.find("\"hostname\":\"demo\""), std::string::npos);
  ASSERT_NE(content.find("\"import.file\":\""), std::string::npos);
  for (const char* naming : {"\"boot_id\"", "\"kernel\"", "\"ddbench.commit\"", "\"root\"", "/tmp/", "/work", "/usr/",
                             "/home/", "-fc-"})
    EXPECT_EQ(content.find(naming), std::string::npos) << naming;
}

TEST_F(Demo, SweepsAreToldApartAndAreReadableCurves) {
  QStringList labels;
  for (const SweepChoice& sweep : sweeps_of(*window.workspace().runs)) {
    EXPECT_FALSE(labels.contains(sweep.label)) << sweep.label.toStdString();
    labels << sweep.label;
    window.workspace().choose_subject({Subject::Kind::kSweep, sweep.id});
    const Page& page = open(static_cast<int>(PageId::kSpeedup));
    EXPECT_EQ(page.error_text(), QString()) << sweep.label.toStdString();
    const auto cards = cards_of(page);
    ASSERT_FALSE(cards.empty());
    EXPECT_LE(cards.front()->view().legend().size(), 6U) << sweep.label.toStdString();
  }
  EXPECT_GE(labels.size(), 10);
}

}  // namespace
}  // namespace ddbench::gui
