#include "gui/models/store_watch.h"

#include <sys/stat.h>

namespace ddbench::gui {

StoreWatch::StoreWatch(int every_ms) {
  timer_.setInterval(every_ms);
  connect(&timer_, &QTimer::timeout, this, [this] { compare(); });
}

void StoreWatch::set_file(std::filesystem::path file) {
  file_ = std::move(file);
  seen_ = look();
  timer_.start();
}

std::string StoreWatch::look() const {
  std::string seen;
  for (const char* suffix : {"", "-wal"}) {
    struct stat status {};
    if (::stat((file_.string() + suffix).c_str(), &status) != 0) {
      seen += "none;";
      continue;
    }
    // The log is memory-mapped and written in place: its modification time alone may not change between two
    // checks.
    seen += std::to_string(status.st_ino) + "," + std::to_string(status.st_size) + "," +
            std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) + ";";
  }
  return seen;
}

void StoreWatch::compare() {
  std::string now = look();
  if (now == seen_) return;
  seen_ = std::move(now);
  if (on_change) on_change();
}

}  // namespace ddbench::gui
