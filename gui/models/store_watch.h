#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <string>

namespace ddbench::gui {

/// Reports when another process has written to the store. Checks the size and time of the file and of its
/// log, and takes no lock, so that a writer never waits for the dashboard. Belongs to the GUI thread.
class StoreWatch : public QObject {
 public:
  explicit StoreWatch(int every_ms = 700);

  void set_file(std::filesystem::path file);
  std::function<void()> on_change;

 private:
  std::string look() const;
  void compare();

  std::filesystem::path file_;
  std::string seen_;
  QTimer timer_;
};

}  // namespace ddbench::gui
