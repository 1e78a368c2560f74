#include <gtest/gtest.h>

#include <QImage>
#include <QLabel>
#include <QSettings>
#include <fstream>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "gui/pages/start_page.h"
#include "gui/window/screenshots.h"
#include "gui_window.h"

namespace ddbench::gui {
namespace {

TEST(Window, SaysWhatToDoWithoutRunsAndWithABrokenOrNewerStore) {
  const ScratchDirectory directory;
  const auto text_of = [&](const std::filesystem::path& file) {
    MainWindow window({file, nullptr});
    window.show();
    settle(window);
    EXPECT_TRUE(window.shows_start_page());
    return window.start_page().text().toStdString();
  };
  EXPECT_NE(text_of(directory / "none.db").find("No runs yet"), std::string::npos);
  std::ofstream(directory / "broken.db") << "this is no database at all, whatever it is called";
  EXPECT_NE(text_of(directory / "broken.db").find("broken.db"), std::string::npos);
  std::filesystem::create_directory(directory / "folder.db");
  EXPECT_NE(text_of(directory / "folder.db").find("folder.db"), std::string::npos);
  store::RunStore::open(directory / "newer.db", store::OpenMode::kReadWrite);
  std::fstream newer(directory / "newer.db", std::ios::in | std::ios::out | std::ios::binary);
  newer.seekp(60).write("\0\0\3\xE7", 4);  // where SQLite keeps a file's user_version: 999
  newer.close();
  EXPECT_NE(text_of(directory / "newer.db").find("upgrade ddbench to read it"), std::string::npos);
}

TEST(Window, SaysHowManyRunsCannotBeRead) {
  const ScratchDirectory directory;
  const std::filesystem::path file = directory / "damaged.db";
  std::filesystem::copy_file(sample_store_file(), file);
  store::Database(file, store::Access::kExisting)
      .execute("UPDATE run SET case_json = '{' WHERE run_key IN (SELECT run_key FROM run LIMIT 2)");
  MainWindow window({file, nullptr});
  window.show();
  settle(window);
  std::string text;
  for (const QLabel* label : window.findChildren<QLabel*>()) text += label->text().toStdString() + "\n";
  EXPECT_NE(text.find("2 runs cannot be read: `ddbench db check` says why"), std::string::npos) << text;
}

TEST(Window, KeepsItsStateAndOpensAnotherStore) {
  const ScratchDirectory directory;
  QSettings settings(QString::fromStdString((directory / "state.ini").string()), QSettings::IniFormat);
  {
    MainWindow window({sample_store_file(), &settings});
    window.show();
    settle(window);
    window.open_page(PageId::kSpeedup);
    window.set_theme_choice(ThemeChoice::kDark);
    window.close();
  }
  MainWindow window({sample_store_file(), &settings});
  window.show();
  settle(window);
  EXPECT_EQ(window.page_id(), PageId::kSpeedup);
  EXPECT_TRUE(theme().dark);
  window.open_store(directory / "none.db");
  settle(window);
  EXPECT_TRUE(window.shows_start_page());
  window.open_store(sample_store_file());
  settle(window);
  EXPECT_FALSE(window.shows_start_page());
  window.set_theme_choice(ThemeChoice::kLight);
}

TEST(Window, DrawsEveryPageIntoFiles) {
  const ScratchDirectory directory;
  const auto files = make_screenshots(sample_store_file(), directory / "shots");
  EXPECT_EQ(files.size(), static_cast<std::size_t>(4 * kPageCount));
  for (const std::filesystem::path& file : files) {
    const QImage image(QString::fromStdString(file.string()));
    EXPECT_TRUE(image.size() == QSize(1280, 800) || image.size() == QSize(2560, 1440)) << file;
  }
  EXPECT_EQ(make_screenshots(directory / "none.db", directory / "empty").size(), 4U);
}

}  // namespace
}  // namespace ddbench::gui
