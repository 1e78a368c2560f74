#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "analyzer/store/rows/abandoned.h"
#include "core/clock.h"
#include "core/facts/facts.h"
#include "core/run_case/records.h"
#include "core/run_case/scheduler_job.h"

namespace ddbench::store {
namespace {

/// As it was when this process first asked: a laptop's name may change with its network, and its runs stay this process's.
const std::string& host_name() {
  static const std::string name = [] {
    std::array<char, 256> text{};
    return std::string(gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "");
  }();
  return name;
}

std::int64_t boot_wall_ns() {
  timespec up{};
  if (::clock_gettime(CLOCK_BOOTTIME, &up) != 0) return 0;
  return wall_ns() - up.tv_sec * 1'000'000'000 - up.tv_nsec;
}

/// 0 when it gave none: then its start counts.
std::int64_t last_sign_ns(const RunRecord& run) {
  return get_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">).value_or(run.started_wall_ns);
}

constexpr char kBeforeNamespace = ' ';

/// Processes of a container have numbers of their own: there, with its pid namespace. Only who has the same text sees the same
/// processes.
std::string boot_id() {
  constexpr ino_t kFirstNamespace = 0xEFFFFFFC;  // linux/proc_ns.h: that of the machine
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  struct stat info {};
  if (::stat("/proc/self/ns/pid", &info) == 0 && info.st_ino != kFirstNamespace) id += fmt::format("{}pid:{}", kBeforeNamespace, info.st_ino);
  return id;
}

std::string_view without_namespace(std::string_view boot_id) {
  return boot_id.substr(0, boot_id.find(kBeforeNamespace));
}

struct ProcessStat {
  char state = 0;
  std::int64_t start_ticks = 0;
};

// Nothing when the process is gone or hidden from this user.
std::optional<ProcessStat> read_stat(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The command stands in parentheses and may itself hold any of ") 1 2".
  const std::size_t after_command = line.rfind(')');
  if (after_command == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(after_command + 1));
  ProcessStat stat;
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> stat.start_ticks;
  return fields ? std::optional(stat) : std::nullopt;
}

/// This host has started again since the run's owner gave its last sign. An owner that gives signs under another boot id drives
/// its run on another machine of the same name.
bool is_of_earlier_boot(const RunRecord& run) {
  if (run.owner_host.empty() || run.owner_host != host_name() || run.owner_boot_id.empty()) return false;
  const std::string boot = boot_id();
  return !boot.empty() && without_namespace(run.owner_boot_id) != without_namespace(boot) && last_sign_ns(run) < boot_wall_ns();
}

bool is_alive(std::int64_t pid, std::int64_t start_ticks) {
  if (kill(static_cast<pid_t>(pid), 0) == -1 && errno == ESRCH) return false;
  const std::optional<ProcessStat> stat = read_stat(pid);
  if (!stat) return true;
  if (stat->state == 'Z' || stat->state == 'X') return false;
  return start_ticks == 0 || stat->start_ticks == start_ticks;
}

}  // namespace

void set_owner_to_this_process(RunRecord& run) {
  run.owner_pid = getpid();
  const std::optional<ProcessStat> stat = read_stat(run.owner_pid);
  run.owner_start_ticks = stat ? stat->start_ticks : 0;
  run.owner_boot_id = boot_id();
  run.owner_host = host_name();
}

bool is_of_this_host(const RunRecord& run) {
  if (run.owner_host.empty() || run.owner_host != host_name()) return false;
  const std::string boot = boot_id();
  return run.owner_boot_id.empty() || boot.empty() || run.owner_boot_id == boot;
}

bool is_abandoned(const RunRecord& run) {
  if (run.state != RunState::kRunning || run.owner_pid <= 0) return false;
  if (is_earlier_start_of_own_job(run.environment.facts)) return true;
  if (is_of_earlier_boot(run)) return true;
  return is_of_this_host(run) && !is_alive(run.owner_pid, run.owner_start_ticks);
}

void close_abandoned(RunRecord& run) {
  if (!is_abandoned(run)) return;
  run.reason = why_gone(run, 0);
  run.state = RunState::kInterrupted;
}

std::string why_gone(const RunRecord& run, std::int64_t now_wall_ns) {
  if (run.state != RunState::kRunning) return {};
  const Facts& facts = run.environment.facts;
  if (is_abandoned(run)) {
    if (!is_earlier_start_of_own_job(facts))
      return fmt::format("the ddbench that ran it (pid {}) ended without closing it", run.owner_pid);
    return fmt::format("its job ({}) was started again before the ddbench that ran it (pid {} on {}) closed it",
                       *get_fact(facts, fact_key<"job.id">), run.owner_pid, run.owner_host);
  }
  const auto sign_ns = get_fact(facts, fact_key<"owner.heartbeat_wall_ns">);
  // A process of this host that lives is alive, however long the machine slept.
  if (!sign_ns || is_of_this_host(run) || now_wall_ns - *sign_ns < kStaleAfter_ns) return {};
  return fmt::format("the ddbench that ran it (pid {} on {}) gave its last sign of life {}", run.owner_pid, run.owner_host,
                     describe_last_sign(run, now_wall_ns));
}

std::string describe_last_sign(const RunRecord& run, std::int64_t now_wall_ns) {
  const auto sign_ns = get_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">);
  if (!sign_ns) return "not known";
  return fmt::format("{} s ago", std::max<std::int64_t>(0, (now_wall_ns - *sign_ns) / 1'000'000'000));
}

}  // namespace ddbench::store
