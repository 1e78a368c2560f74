#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QProcess>
#include <chrono>
#include <cstdio>
#include <thread>

#include "core/error.h"
#include "gui/pages/overview_page.h"
#include "gui_window.h"
#include "live_writer.h"
#include "sample_store.h"

namespace ddbench::gui {
namespace {

constexpr std::chrono::milliseconds kBetweenRuns{150};

}  // namespace

int write_runs(const char* store, int count) {
  try {
    auto writer = store::RunStore::open(store, store::OpenMode::kReadWrite);
    for (int i = 0; i < count; ++i) {
      test::SampleRun run;
      run.number = i;
      run.run_case.gpus_per_node = 2;
      run.run_case.steps = 5;
      test::add_sample_run(writer, run);
      std::this_thread::sleep_for(kBetweenRuns);
    }
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    return 1;
  }
}

namespace {

/// DDBENCH_LIVE_SECONDS: for how long the other process writes; 3 unless set.
TEST(Live, EveryRunOfAnotherProcessIsSeenAndItIsNeverRefused) {
  const int seconds = std::max(3, qEnvironmentVariableIntValue("DDBENCH_LIVE_SECONDS"));
  const auto runs = static_cast<std::size_t>(std::chrono::seconds(seconds) / kBetweenRuns);
  const ScratchDirectory directory;
  const std::filesystem::path file = directory / "live.db";
  MainWindow window({file, nullptr});
  window.show();
  settle(window);
  EXPECT_TRUE(window.shows_start_page());

  QProcess writer;
  writer.start(
      QCoreApplication::applicationFilePath(),
      {QStringLiteral("--write-runs"), QString::fromStdString(file.string()), QString::number(runs)});
  ASSERT_TRUE(writer.waitForStarted());
  std::size_t most_at_once = 0;
  std::size_t last = 0;
  ASSERT_TRUE(wait_until(
      [&] {
        const std::size_t now = window.workspace().runs->size();
        most_at_once = std::max(most_at_once, now - last);
        EXPECT_GE(now, last) << "a refresh lost runs";
        last = now;
        return writer.state() == QProcess::NotRunning;
      },
      60'000 + 2000 * seconds));
  EXPECT_EQ(writer.exitCode(), 0) << writer.readAllStandardError().toStdString();
  EXPECT_TRUE(wait_until([&] { return window.workspace().runs->size() == runs && window.is_settled(); }));
  EXPECT_LT(most_at_once, runs) << "runs came only after the writer had ended";
  EXPECT_FALSE(window.shows_start_page());
  auto& overview = static_cast<OverviewPage&>(window.page(PageId::kOverview));
  EXPECT_EQ(overview.rows().visible_runs().size(), runs);
}

}  // namespace
}  // namespace ddbench::gui
