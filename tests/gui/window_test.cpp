#include <gtest/gtest.h>

#include <QFileDialog>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QTimer>
#include <fstream>
#include <iterator>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "core/error.h"
#include "gui/charts/save_dialog.h"
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

QPushButton* button_of(const QWidget& widget, const QString& text) {
  for (auto* button : widget.findChildren<QPushButton*>()) {
    if (button->text() == text) return button;
  }
  return nullptr;
}

TEST(Window, SaysThatItReadsUntilTheListComesOrReadingIsCancelled) {
  MainWindow window({sample_store_file(), nullptr});
  window.show();
  const auto says = [&](const char* title) {
    return window.shows_start_page() && window.start_page().text().startsWith(QString::fromUtf8(title));
  };
  EXPECT_TRUE(says("Reading…")) << window.start_page().text().toStdString();
  settle(window);
  EXPECT_FALSE(window.shows_start_page());
  window.open_store(sample_store_file());
  EXPECT_TRUE(says("Reading…"));
  button_of(window, QStringLiteral("Cancel"))->click();
  EXPECT_TRUE(says("Reading was cancelled"));
  settle(window);
  EXPECT_TRUE(says("Reading was cancelled"));
  button_of(window.start_page(), QStringLiteral("Try again"))->click();
  EXPECT_TRUE(says("Reading…"));
  settle(window);
  EXPECT_FALSE(window.shows_start_page());
}

TEST(Window, OffersASmallDemoOfTheStoreThatIsOpenOnly) {
  const ScratchDirectory directory;
  const auto write_program = [&](const char* name, std::filesystem::perms rights) {
    std::ofstream(directory / name) << "#!/bin/sh\necho \"$@\" > " << (directory / "arguments").string() << "\n";
    std::filesystem::permissions(directory / name, rights);
    return QString::fromStdString((directory / name).string());
  };
  StartPage page;
  int tried = 0;
  page.try_again = [&tried] { ++tried; };
  page.program = write_program("runs", std::filesystem::perms::owner_all);
  page.show_state("/first.db", nullptr);
  const QPushButton* demo = button_of(page, QStringLiteral("Run the small demo"));
  EXPECT_FALSE(demo->isHidden());
  page.show_reading("/second.db");
  EXPECT_TRUE(demo->isHidden());
  page.show_cancelled("/second.db");
  EXPECT_TRUE(demo->isHidden());
  page.show_state("/second.db", nullptr);
  button_of(page, QStringLiteral("Run the small demo"))->click();
  EXPECT_FALSE(demo->isEnabled());
  ASSERT_TRUE(wait_until([&] { return demo->isEnabled(); }));
  EXPECT_EQ(tried, 1);
  std::ifstream file(directory / "arguments");
  const std::string arguments{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(arguments.ends_with("--db /second.db\n")) << arguments;

  page.program = write_program("does not run", std::filesystem::perms::owner_read);
  button_of(page, QStringLiteral("Run the small demo"))->click();
  ASSERT_TRUE(wait_until([&] { return demo->isEnabled(); })) << "it could not be started";
  EXPECT_EQ(tried, 1);
  QString said;
  for (const QLabel* label : page.findChildren<QLabel*>(QStringLiteral("note"))) said += label->text();
  EXPECT_TRUE(said.contains(QStringLiteral("does not run could not be started"))) << said.toStdString();
}

/// Answers a dialog for files with this name, and boxes with yes or OK; notes what the boxes said.
class Answers : public QTimer {
 public:
  explicit Answers(const std::filesystem::path& file) {
    connect(this, &QTimer::timeout, this, [this, name = QString::fromStdString(file.string())] { answer(name); });
    start(5);
  }
  QStringList said;

 private:
  void answer(const QString& name) {
    QWidget* shown = QApplication::activeModalWidget();
    if (auto* box = qobject_cast<QMessageBox*>(shown)) {
      said << box->text();
      QAbstractButton* yes = box->button(QMessageBox::Yes);
      (yes != nullptr ? yes : box->button(QMessageBox::Ok))->click();
    } else if (auto* dialog = qobject_cast<QFileDialog*>(shown); dialog != nullptr && !named_) {
      named_ = true;
      dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(name);
      // Later: this timer rests while its own event is handled, and boxes may follow.
      QMetaObject::invokeMethod(dialog, "accept", Qt::QueuedConnection);
    }
  }
  bool named_ = false;
};

TEST(Window, SavesUnderTheNameThatItAskedAboutAndSaysWhenItCannot) {
  QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
  const ScratchDirectory directory;
  std::ofstream(directory / "there.csv") << "something";
  std::string saved;
  const auto save = [&](const char* name, bool works = true) {
    Answers answers(directory / name);
    save_by_dialog(nullptr, QStringLiteral("table"), QStringLiteral("table.csv"), QStringLiteral("csv"), [&](const std::string& file) {
      if (!works) throw Error(ErrorCode::kRunFailed, "the disk is full");
      saved = file;
    });
    return answers.said;
  };
  EXPECT_EQ(save("there").filter(QStringLiteral("replace")).size(), 1) << "the suffix leads to a file that exists";
  EXPECT_EQ(saved, (directory / "there.csv").string());
  EXPECT_EQ(save("new").size(), 0);
  EXPECT_EQ(saved, (directory / "new.csv").string());
  EXPECT_EQ(save("NEW.CSV").size(), 0);
  EXPECT_EQ(saved, (directory / "NEW.CSV").string());
  EXPECT_EQ(save("other", false).join(QString()), QStringLiteral("the disk is full"));
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
