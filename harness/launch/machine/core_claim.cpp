#include "harness/launch/machine/core_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

// The file: two records a core, of its holder and of who came to share it last. Locks are on bytes by number, whatever lies there:
// one a core that its holder alone has, and one that all who share it have.
constexpr off_t kFirstSharedByte = 1 << 20;

struct Record {
  std::uint64_t count = 0;  // how often one was written here
  char run[56] = {};
};
static_assert(sizeof(Record) == 64);

enum class Role : int { kHolder = 0, kSharer = 1 };

off_t place_of(int core, Role role) {
  return (off_t{2} * core + static_cast<int>(role)) * static_cast<off_t>(sizeof(Record));
}

Record read_record(int file, int core, Role role) {
  Record record;
  if (::pread(file, &record, sizeof record, place_of(core, role)) != static_cast<ssize_t>(sizeof record)) return {};
  return record;
}

void write_record(int file, int core, Role role, std::string_view run_id) {
  Record record;
  record.count = read_record(file, core, role).count + 1;
  std::copy_n(run_id.begin(), std::min(run_id.size(), sizeof record.run - 1), record.run);
  // A full file system costs the name only: the lock says that there is somebody.
  (void)!::pwrite(file, &record, sizeof record, place_of(core, role));
}

/// Any user may have written it.
std::string run_named_in(const Record& record) {
  const std::string run(record.run, ::strnlen(record.run, sizeof record.run));
  const bool is_plain = !run.empty() && std::all_of(run.begin(), run.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
  return is_plain ? run : std::string();
}

struct flock on_byte(off_t byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

bool lock_byte(int file, off_t byte, short type) {
  struct flock lock = on_byte(byte, type);
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

bool is_locked_by_others(int file, off_t byte) {
  struct flock lock = on_byte(byte, F_WRLCK);
  return ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// Made with O_EXCL: in a folder of all users, Linux refuses O_CREAT for a file that another user has (fs.protected_regular). What a
/// user alone may write is none of ddbench's: root, who could, leaves it alone.
UniqueFd open_claims(const std::filesystem::path& path) {
  constexpr mode_t kOfAll = 0666;
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  for (int attempt = 0; attempt < 5; ++attempt) {
    UniqueFd made(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, kOfAll));
    if (made && ::fchmod(made.get(), kOfAll) == 0) return made;
    UniqueFd file(::open(path.c_str(), kFlags));
    struct stat status {};
    const bool is_file = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    const bool is_of_others_alone = ::geteuid() == 0 && status.st_uid != 0 && (status.st_mode & kOfAll) != kOfAll;
    if (is_file && !is_of_others_alone) return file;
    std::this_thread::sleep_for(2ms);  // its maker is about to open it to all
  }
  return UniqueFd();
}

}  // namespace

std::filesystem::path core_claims_file() {
  const char* const named = std::getenv(kCoreClaimsVariable);
  return named != nullptr && *named != '\0' ? named : "/dev/shm/ddbench-cores";
}

CoreClaim::CoreClaim(const std::filesystem::path& file, const WantedCore& wanted) : run_id_(wanted.run_id) {
  if (wanted.cores.empty() || wanted.slot < 0) return;
  const auto slot = static_cast<std::size_t>(wanted.slot);
  const int preferred = wanted.cores[slot % wanted.cores.size()];
  core_ = preferred;
  file_ = open_claims(file);
  if (!file_) {
    blind_ = fmt::format("{} cannot be used: runs of other users are not seen", file.string());
    file_ = open_claims(fmt::format("{}-{}", file.string(), ::getuid()));
  }
  if (!file_) {
    blind_ = fmt::format("{} cannot be written: other runs are not seen", file.string());
    return;
  }
  const bool has_its_own = slot < wanted.cores.size();
  if (has_its_own && take_any(preferred, wanted)) return;
  share(has_its_own ? core_of_others(preferred, wanted) : preferred);
}

// Others have cores that this run needs: the rank goes to one of theirs, and both runs can name the other.
int CoreClaim::core_of_others(int preferred, const WantedCore& wanted) const {
  const auto is_of_others = [this](int core) { return !other_run_on(core).empty(); };
  const auto theirs = std::find_if(wanted.cores.begin(), wanted.cores.end(), is_of_others);
  return is_of_others(preferred) || theirs == wanted.cores.end() ? preferred : *theirs;
}

bool CoreClaim::take_any(int preferred, const WantedCore& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + wanted.patience;
  for (;;) {
    if (take(preferred)) return true;
    if (std::any_of(wanted.cores.begin(), wanted.cores.end(), [this](int core) { return take(core); })) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(50ms);
  }
}

// Whoever shares locks first and counts then. One that comes between the reading of the count and the look at its lock is seen by the
// look, one that comes later by the count. Ranks of the own run that share, because it has more ranks than cores, leave the core free.
bool CoreClaim::take(int core) {
  if (!lock_byte(file_.get(), core, F_WRLCK)) return false;
  sharers_before_ = read_record(file_.get(), core, Role::kSharer).count;
  if (is_locked_by_others(file_.get(), kFirstSharedByte + core) &&
      run_named_in(read_record(file_.get(), core, Role::kSharer)) != run_id_) {
    lock_byte(file_.get(), core, F_UNLCK);
    return false;
  }
  write_record(file_.get(), core, Role::kHolder, run_id_);
  core_ = core;
  return exclusive_ = true;
}

void CoreClaim::share(int core) {
  core_ = core;
  found_there_ = other_run_on(core);
  write_record(file_.get(), core, Role::kSharer, run_id_);  // whoever finds it locked knows by whom
  lock_byte(file_.get(), kFirstSharedByte + core, F_RDLCK);
  write_record(file_.get(), core, Role::kSharer, run_id_);  // and who did not is to see another count
}

std::string CoreClaim::other_run_on(int core) const {
  const int file = file_.get();
  const bool is_held = is_locked_by_others(file, core);
  if (!is_held && !is_locked_by_others(file, kFirstSharedByte + core)) return {};
  return other_run(run_named_in(read_record(file, core, is_held ? Role::kHolder : Role::kSharer)));
}

std::string CoreClaim::other_run(const std::string& run) const {
  if (run == run_id_) return {};
  return run.empty() ? "a run whose name is not known" : "run " + run;
}

std::string CoreClaim::shared_with() const {
  if (!exclusive_) return found_there_;
  const Record record = read_record(file_.get(), core_, Role::kSharer);
  if (record.count == sharers_before_) return {};
  return other_run(run_named_in(record));
}

}  // namespace ddbench::launch
