#include "harness/launch/worker/program.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/nccl_event.h"
#include "harness/collective/nccl_log.h"
#include "harness/launch/start/start_command.h"
#include "harness/launch/machine/own_processes.h"
#include "harness/plugin/module.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "ddbench_inject.so";

/// Logs the transports by which NCCL's ranks reach each other, which the plug-in cannot report: one file per
/// process, beside its spool.
void log_transports(const std::string& spool) {
  if (collective::user_directs_nccl_log()) return;
  ::setenv("NCCL_DEBUG", collective::kNcclLogLevel, 1);
  ::setenv("NCCL_DEBUG_SUBSYS", collective::kNcclLogSubsystems, 0);
  // NCCL puts its process's id there.
  ::setenv("NCCL_DEBUG_FILE", (spool + ".%p" + kNcclLogSuffix).c_str(), 1);
}

/// These variables give NCCL, the CUDA driver, NVTX and ITT the libraries to load that record them. A
/// variable is not set if this build lacks the library, if the user has set it, or if it is useful only on a
/// machine with a GPU and there is none.
void set_injected_libraries(const std::string& preload) {
  const auto set = [folder = std::filesystem::path(preload).parent_path()](const char* variable,
                                                                           const char* name) {
    const std::filesystem::path file = folder / name;
    if (::access(file.c_str(), R_OK) == 0) ::setenv(variable, file.c_str(), 0);
  };
  set("NCCL_PROFILER_PLUGIN", "ddbench_nccl_profiler.so");
  set("INTEL_LIBITTNOTIFY64", kLibrary);
  if (::access("/dev/nvidiactl", F_OK) != 0) return set("NVTX_INJECTION64_PATH", kLibrary);
  set("CUDA_INJECTION64_PATH", "ddbench_inject_cuda.so");
  set("NVTX_INJECTION64_PATH", "ddbench_inject_cuda.so");
}

/// The dynamic linker would silently take such a path for several, or for another one; Python one with a colon.
bool fits_ld_preload(const std::string& path) {
  return path.find_first_of(" :$") == std::string::npos;
}
bool fits_python_path(const std::string& path) {
  return path.find(':') == std::string::npos;
}

/// `path` as the linker or Python can hold it in a list: as it is, or through a link of this name in `folder`. `list`: in words.
std::string listable(const std::string& path, const fs::path& folder, const char* name, bool (*fits)(const std::string&),
                     std::string_view list) {
  if (path.empty() || fits(path)) return path;
  const std::string link = folder / name;
  if (!fits(link)) {
    throw Error(ErrorCode::kEnvironment,
                fmt::format("the program cannot be recorded: {}, and neither {} nor {} is without. Set DDBENCH_TMPDIR to a "
                            "directory whose path is",
                            list, path, link),
                0, path);
  }
  std::error_code error;
  fs::create_symlink(path, link, error);
  if (error && error != std::errc::file_exists) {  // another rank here may have made it
    throw Error(ErrorCode::kEnvironment,
                fmt::format("the program cannot be recorded: {}: {}", link, error.message()), error.value(),
                link);
  }
  return link;
}

void prepare(const Program::Options& options, const std::string& library, const std::string& python) {
  show_own_processes();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string preload = before != nullptr && *before != '\0' ? library + ":" + before : library;
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  set_injected_libraries(options.preload);
  log_transports(options.spool);
  ::setenv("DDBENCH_SPOOL", options.spool.c_str(), 1);
  if (!python.empty()) {
    const char* const path = std::getenv("PYTHONPATH");
    const std::string rest = path != nullptr && *path != '\0' ? std::string(":") + path : "";
    ::setenv("PYTHONPATH", (python + rest).c_str(), 1);
  }
  if (!options.window.empty()) ::setenv("DDBENCH_WINDOW", options.window.c_str(), 1);
  ::setenv("DDBENCH_RUN_ID", options.run_id.c_str(), 1);
  if (options.rank >= 0) {
    ::setenv("DDBENCH_RANK", std::to_string(options.rank).c_str(), 1);
  } else {
    for (const char* variable : {"DDBENCH_RANK", "RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"}) ::unsetenv(variable);
  }
  ::setenv("PYTHONUNBUFFERED", "1", 0);  // its lines are shown while it runs
}

/// As waitpid() gives it.
int wait_status(const siginfo_t& end) {
  return end.si_code == CLD_EXITED ? (end.si_status & 0xff) << 8 : end.si_status | (end.si_code == CLD_DUMPED ? 0x80 : 0);
}

}  // namespace

Program::Program(const Options& options) {
  const fs::path folder = fs::path(options.spool).parent_path();
  const std::string library = listable(options.preload, folder, kLibrary, fits_ld_preload,
                                       "LD_PRELOAD takes no path with a blank, a colon or a dollar sign");
  const std::string python =
      listable(options.python, folder, "python", fits_python_path, "PYTHONPATH takes no path with a colon");
  const StartedCommand started = start_command(options.command, [&] { prepare(options, library, python); });
  pid_ = started.pid;
  if (pid_ > 0) return;
  throw Error(ErrorCode::kRunFailed,
              fmt::format("the program {} cannot be executed: {}", options.command.front(),
                          std::generic_category().message(started.error)),
              started.error, options.command.front());
}

Program::~Program() {
  kill();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int Program::wait() {
  siginfo_t end{};
  while (!status_ && ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  if (!status_) status_ = wait_status(end);
  return *status_;
}

std::optional<int> Program::poll() {
  siginfo_t end{};
  if (!status_ && ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT | WNOHANG) == 0 && end.si_pid == pid_)
    status_ = wait_status(end);
  return status_;
}

void Program::kill() noexcept {
  ::kill(-pid_, SIGKILL);
}

void Program::terminate() noexcept {
  ::kill(-pid_, SIGTERM);
}

std::string recording_library() {
  for (const std::filesystem::path& directory : module::module_directories()) {
    std::error_code missing;
    if (std::filesystem::exists(directory / kLibrary, missing))
      return std::filesystem::absolute(directory / kLibrary);
  }
  throw Error(
      ErrorCode::kEnvironment,
      fmt::format(
          "{} is missing: programs cannot be recorded. It is built with ddbench; is this a partial copy?",
          kLibrary),
      0, kLibrary);
}

std::string python_folder() {
  for (const std::filesystem::path& directory : module::module_directories()) {
    std::error_code missing;
    const std::filesystem::path folder = std::filesystem::absolute(directory / "python");
    if (std::filesystem::exists(folder / "sitecustomize.py", missing)) return folder.string();
  }
  return {};
}

}  // namespace ddbench::launch
