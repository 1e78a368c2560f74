#include "gui/window/screenshots.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QPixmap>

#include "core/error.h"
#include "gui/window/all_pages.h"
#include "gui/window/main_window.h"

namespace ddbench::gui {
namespace {

constexpr QSize kSizes[] = {{1280, 800}, {2560, 1440}};
constexpr int kPatience_ms = 300'000;

void settle(const MainWindow& window) {
  QElapsedTimer timer;
  timer.start();
  do {
    QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
    if (timer.elapsed() > kPatience_ms) {
      throw Error(ErrorCode::kRunFailed,
                  "a page was still loading after five minutes: is the store on a slow disk?");
    }
  } while (!window.is_settled());
  QApplication::processEvents();
}

std::string file_name(const std::string& page, bool dark, QSize size) {
  return page + (dark ? "-dark-" : "-light-") + std::to_string(size.width()) + "x" +
         std::to_string(size.height()) + ".png";
}

}  // namespace

std::vector<std::filesystem::path> make_screenshots(const std::filesystem::path& store,
                                                    const std::filesystem::path& directory) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  MainWindow window({store, nullptr});
  window.show();
  settle(window);
  std::vector<std::filesystem::path> files;
  const auto shoot = [&](const std::string& name, bool dark, QSize size) {
    settle(window);
    const std::filesystem::path file = directory / file_name(name, dark, size);
    if (!window.grab().save(QString::fromStdString(file.string()))) {
      throw Error(ErrorCode::kBadInput, "cannot write " + file.string() + ": is the directory writable?");
    }
    files.push_back(file);
  };
  for (const bool dark : {false, true}) {
    window.set_theme_choice(dark ? ThemeChoice::kDark : ThemeChoice::kLight);
    for (const QSize size : kSizes) {
      window.resize(size);
      if (window.shows_start_page()) {
        shoot("start", dark, size);
        continue;
      }
      for (int i = 0; i < kPageCount; ++i) {
        const auto page = static_cast<PageId>(i);
        window.open_page(page);
        QString name = page_title(page).toLower();
        name.replace(QLatin1String(" & "), QLatin1String("-"));
        name.replace(QLatin1Char(' '), QLatin1Char('-'));
        shoot(name.toStdString(), dark, size);
      }
    }
  }
  return files;
}

}  // namespace ddbench::gui
