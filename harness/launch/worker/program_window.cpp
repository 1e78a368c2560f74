#include "harness/launch/worker/program_window.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/run_case/program_case.h"
#include "harness/launch/worker/worker.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{50};
// From SIGTERM to SIGKILL, of a program whose window is over.
constexpr std::chrono::seconds kTimeToEnd{10};

/// Files of the program's processes beside their spools: "<spool>.<pid>.<ending>".
int count_of(const fs::path& spool, std::string_view ending) {
  const std::string prefix = spool.filename().string() + ".";
  int count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(spool.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    count += name.starts_with(prefix) && name.ends_with(ending);
  }
  return count;
}

class WindowWatch {
 public:
  WindowWatch(const RunCase& run_case, const fs::path& spool)
      : run_case_(run_case), spool_(spool), processes_(is_program_per_node(run_case) ? run_case.gpus_per_node : 1) {}

  bool is_over() {
    if (count_of(spool_, ".closed") >= processes_) return true;
    if (run_case_.duration_s <= 0 || count_of(spool_, ".steps") > 0) return false;
    if (!first_record_ && count_of(spool_, ".spool") > 0) first_record_ = Clock::now();
    return first_record_ && Clock::now() - *first_record_ >= std::chrono::duration<double>(run_case_.duration_s);
  }

 private:
  const RunCase& run_case_;
  fs::path spool_;
  int processes_;
  std::optional<Clock::time_point> first_record_;
};

std::string window_key(int rank) {
  return fmt::format("program.window_over.{}", rank);
}

void wait_for_other_windows(const RunCase& run_case, collective::KeyValueStore& keys) {
  const int every = is_program_per_node(run_case) ? run_case.gpus_per_node : 1;
  for (int other = 0; other < run_case.world_size(); other += every) keys.get(window_key(other), kLauncherAnswersIn);
}

int end_program(Program& program) {
  program.terminate();
  const auto deadline = Clock::now() + kTimeToEnd;
  while (Clock::now() < deadline) {
    if (const auto status = program.poll()) return *status;
    std::this_thread::sleep_for(kLook);
  }
  program.kill();
  return program.wait();
}

}  // namespace

ProgramEnd wait_for_end(Program& program, const RunCase& run_case, int rank, const fs::path& spool,
                        collective::KeyValueStore& keys) {
  if (run_case.after == AfterWindow::kContinue) return {program.wait()};
  WindowWatch watch(run_case, spool);
  while (!watch.is_over()) {
    if (const auto status = program.poll()) {
      if (*status == 0) keys.set(window_key(rank), {'1'});  // the others wait for it; a failure ends them anyway
      return {*status};
    }
    std::this_thread::sleep_for(kLook);
  }
  keys.set(window_key(rank), {'1'});
  wait_for_other_windows(run_case, keys);
  return {end_program(program), true};
}

std::string window_for_program(const RunCase& run_case) {
  if (run_case.measure == 0 && run_case.duration_s == 0) return {};
  return fmt::format("{} {} {}", run_case.skip, run_case.measure, std::llround(run_case.duration_s * 1e9));
}

}  // namespace ddbench::launch
