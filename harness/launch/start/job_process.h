#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddbench::launch {

/// The process that starts remote ranks: mpirun, srun. It runs in a process group of its own, so that only
/// the launcher receives Ctrl-C, and gets a signal to end when the launcher dies.
class JobProcess {
 public:
  struct Options {
    std::vector<std::string> command;
    std::map<std::string, std::string> environment;  ///< beside that of this process
    std::filesystem::path log;                       ///< its output
  };
  /// Throws Error{kEnvironment} when it cannot be executed.
  explicit JobProcess(const Options& options);
  ~JobProcess();  ///< as finish(0)
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  /// Its wait status once it has ended. Without waiting.
  std::optional<int> ended();
  /// Waits for its end; after `timeout` SIGTERM, and some seconds later SIGKILL, to its process group.
  void finish(std::chrono::milliseconds timeout) noexcept;
  /// Waits for its end, which it comes to by itself; false when it has not within `timeout`.
  bool ends_within(std::chrono::milliseconds timeout) noexcept;

 private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace ddbench::launch
