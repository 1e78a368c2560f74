#include "gui_window.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <QApplication>
#include <QElapsedTimer>

#include "sample_store.h"

namespace ddbench::gui {

ScratchDirectory::ScratchDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ddbench-gui-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

const std::filesystem::path& sample_store_file() {
  static const ScratchDirectory kDirectory;
  static const std::filesystem::path kFile = [] {
    std::filesystem::path file = kDirectory / "sample.db";
    auto store = store::RunStore::open(file, store::OpenMode::kReadWrite);
    test::SampleSweep sweep;
    sweep.nodes = {1, 2, 4};
    sweep.links = {"10gbit", "1gbit"};
    sweep.repetitions = 2;
    sweep.steps = 12;
    test::add_sample_sweep(store, sweep);
    return file;
  }();
  return kFile;
}

bool wait_until(const std::function<bool()>& done, int milliseconds) {
  QElapsedTimer timer;
  timer.start();
  while (!done()) {
    if (timer.elapsed() > milliseconds) return false;
    QApplication::processEvents(QEventLoop::AllEvents, 20);
  }
  return true;
}

void settle(MainWindow& window) {
  ASSERT_TRUE(wait_until([&] { return window.is_settled(); })) << "the window never came to rest";
  QApplication::processEvents();
}

}  // namespace ddbench::gui
