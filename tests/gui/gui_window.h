#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "gui/window/main_window.h"

namespace ddbench::gui {

/// A directory that is gone with the object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Two sweeps over links and sizes, with a failed and an invalid run; made once for all tests.
const std::filesystem::path& sample_store_file();

/// Handles events until `done`, for some seconds at most; false: it never came.
bool wait_until(const std::function<bool()>& done, int milliseconds = 60'000);
void settle(MainWindow& window);

}  // namespace ddbench::gui
