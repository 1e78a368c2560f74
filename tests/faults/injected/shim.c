// Loaded into ddbench by LD_PRELOAD: counts the operations by which a process changes files, and at the n-th one the process is killed, or
// the operation fails. Everything is set by variables (faults/injected/shim.py):
//   FAULT_WHO     launcher, rank (any), or rank:N: which process of a run
//   FAULT_BELOW   only files whose path begins with this
//   FAULT_NAMES   only files whose path contains this; empty: all
//   FAULT_AT      which operation, from 1 on; 0: none
//   FAULT_ACTION  kill (before it), late-kill (after it), torn-kill (after half of a write), or an errno
//   FAULT_LASTING 1: all later operations fail, too
//   FAULT_LOG     file that gets a line for each operation: its name and the path
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int active, lasting, error_number, log_fd = -1;
static long at;
static char below[PATH_MAX], names[256];
static enum { KILL, LATE_KILL, TORN_KILL, FAIL } action;
static atomic_long seen;

static int is_meant(const char* who) {
  char command[512] = "";
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = syscall(SYS_read, fd, command, sizeof command - 1);
  syscall(SYS_close, fd);
  if (bytes <= 0) return 0;
  const char* program = strrchr(command, '/') ? strrchr(command, '/') + 1 : command;
  if (strcmp(program, "ddbench") != 0) return 0;
  const char* subcommand = command + strlen(command) + 1;
  const int is_rank = subcommand < command + bytes && strcmp(subcommand, "worker") == 0;
  if (strcmp(who, "launcher") == 0) return !is_rank;
  const char* rank = getenv("RANK") ? getenv("RANK") : getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("SLURM_PROCID");
  return is_rank && (strcmp(who, "rank") == 0 || (rank && strcmp(who + strlen("rank:"), rank) == 0));
}

__attribute__((constructor)) static void read_variables(void) {
  const char *who = getenv("FAULT_WHO"), *where = getenv("FAULT_BELOW"), *what = getenv("FAULT_ACTION");
  if (!who || !where || !what || !is_meant(who)) return;
  snprintf(below, sizeof below, "%s", where);
  if (getenv("FAULT_NAMES")) snprintf(names, sizeof names, "%s", getenv("FAULT_NAMES"));
  at = getenv("FAULT_AT") ? atol(getenv("FAULT_AT")) : 0;
  lasting = getenv("FAULT_LASTING") && *getenv("FAULT_LASTING") == '1';
  error_number = atoi(what);
  action = !strcmp(what, "kill") ? KILL : !strcmp(what, "late-kill") ? LATE_KILL : !strcmp(what, "torn-kill") ? TORN_KILL : FAIL;
  const char* log = getenv("FAULT_LOG");
  if (log) log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  active = 1;
}

static void die(void) { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); }

// Counts an operation. 0: it goes on; 1: it fails; 2: it goes on, and the process is killed after it.
static int decide(const char* operation, const char* path) {
  if (!active || strncmp(path, below, strlen(below)) != 0 || (*names && !strstr(path, names))) return 0;
  const long n = atomic_fetch_add(&seen, 1) + 1;
  if (log_fd >= 0) {
    char line[PATH_MAX + 64];
    const int length = snprintf(line, sizeof line, "%s %s\n", operation, path);
    syscall(SYS_write, log_fd, line, (size_t)length);
  }
  if (at == 0 || n < at || (n > at && !(action == FAIL && lasting))) return 0;
  if (action == KILL) die();
  if (action == FAIL) {
    errno = error_number;
    return 1;
  }
  return 2;
}

static int decide_fd(const char* operation, int fd) {
  if (!active) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return decide(operation, path);
}

static int decide_at(const char* operation, int directory, const char* name) {
  if (!active) return 0;
  char link[64], path[2 * PATH_MAX];
  if (*name == '/') return decide(operation, name);
  if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  const ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX);
  if (length <= 0) return 0;
  snprintf(path + length, PATH_MAX, "/%s", name);
  return decide(operation, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define GUARDED(decision, failed, call)      \
  const int decided = (decision);            \
  if (decided == 1) return failed;           \
  __typeof__(call) result = (call);          \
  if (decided == 2) die();                   \
  return result

static int is_written(int flags) { return (flags & (O_CREAT | O_TRUNC)) != 0; }

#define OPENING(name)                                                                             \
  int name(const char* path, int flags, ...) {                                                    \
    va_list arguments;                                                                            \
    va_start(arguments, flags);                                                                   \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;          \
    va_end(arguments);                                                                            \
    GUARDED(is_written(flags) ? decide_at("open", AT_FDCWD, path) : 0, -1, REAL(name)(path, flags, mode)); \
  }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                                                          \
  int name(int directory, const char* path, int flags, ...) {                                     \
    va_list arguments;                                                                            \
    va_start(arguments, flags);                                                                   \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, mode_t) : 0;          \
    va_end(arguments);                                                                            \
    GUARDED(is_written(flags) ? decide_at("open", directory, path) : 0, -1, REAL(name)(directory, path, flags, mode)); \
  }
OPENING_AT(openat)
OPENING_AT(openat64)

ssize_t write(int fd, const void* data, size_t bytes) {
  const int decided = active ? decide_fd("write", fd) : 0;
  if (decided == 1) return -1;
  if (decided == 2) {
    syscall(SYS_write, fd, data, action == TORN_KILL ? bytes / 2 : bytes);
    die();
  }
  return REAL(write)(fd, data, bytes);
}

#define WRITING_AT(name, offset_type)                                                  \
  ssize_t name(int fd, const void* data, size_t bytes, offset_type offset) {           \
    const int decided = active ? decide_fd("write", fd) : 0;                           \
    if (decided == 1) return -1;                                                       \
    if (decided == 2) {                                                                \
      syscall(SYS_pwrite64, fd, data, action == TORN_KILL ? bytes / 2 : bytes, offset); \
      die();                                                                           \
    }                                                                                  \
    return REAL(name)(fd, data, bytes, offset);                                        \
  }
WRITING_AT(pwrite, off_t)
WRITING_AT(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec* parts, int count) { GUARDED(decide_fd("write", fd), -1, REAL(writev)(fd, parts, count)); }
int ftruncate(int fd, off_t size) { GUARDED(decide_fd("truncate", fd), -1, REAL(ftruncate)(fd, size)); }
int ftruncate64(int fd, off64_t size) { GUARDED(decide_fd("truncate", fd), -1, REAL(ftruncate64)(fd, size)); }
int fsync(int fd) { GUARDED(decide_fd("sync", fd), -1, REAL(fsync)(fd)); }
int fdatasync(int fd) { GUARDED(decide_fd("sync", fd), -1, REAL(fdatasync)(fd)); }
int fallocate(int fd, int mode, off_t offset, off_t size) { GUARDED(decide_fd("allocate", fd), -1, REAL(fallocate)(fd, mode, offset, size)); }
ssize_t copy_file_range(int in, off64_t* from, int out, off64_t* to, size_t bytes, unsigned flags) {
  GUARDED(decide_fd("write", out), -1, REAL(copy_file_range)(in, from, out, to, bytes, flags));
}
ssize_t sendfile(int out, int in, off_t* offset, size_t bytes);
ssize_t sendfile(int out, int in, off_t* offset, size_t bytes) { GUARDED(decide_fd("write", out), -1, REAL(sendfile)(out, in, offset, bytes)); }
int rename(const char* from, const char* to) { GUARDED(decide_at("rename", AT_FDCWD, to), -1, REAL(rename)(from, to)); }
int renameat(int in, const char* from, int out, const char* to) { GUARDED(decide_at("rename", out, to), -1, REAL(renameat)(in, from, out, to)); }
int renameat2(int in, const char* from, int out, const char* to, unsigned flags) {
  GUARDED(decide_at("rename", out, to), -1, REAL(renameat2)(in, from, out, to, flags));
}
int link(const char* from, const char* to) { GUARDED(decide_at("link", AT_FDCWD, to), -1, REAL(link)(from, to)); }
int unlink(const char* path) { GUARDED(decide_at("unlink", AT_FDCWD, path), -1, REAL(unlink)(path)); }
int unlinkat(int in, const char* path, int flags) { GUARDED(decide_at("unlink", in, path), -1, REAL(unlinkat)(in, path, flags)); }
int mkdir(const char* path, mode_t mode) { GUARDED(decide_at("mkdir", AT_FDCWD, path), -1, REAL(mkdir)(path, mode)); }
int mkdirat(int in, const char* path, mode_t mode) { GUARDED(decide_at("mkdir", in, path), -1, REAL(mkdirat)(in, path, mode)); }
int rmdir(const char* path) { GUARDED(decide_at("unlink", AT_FDCWD, path), -1, REAL(rmdir)(path)); }
