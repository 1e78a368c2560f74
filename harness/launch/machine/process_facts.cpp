#include "harness/launch/machine/process_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace ddbench::launch {

pid_t host_pid() noexcept {
  std::array<char, 32> text{};
  if (::readlink("/proc/self", text.data(), text.size() - 1) <= 0) return ::getpid();
  pid_t pid = 0;
  for (const char* digit = text.data(); *digit >= '0' && *digit <= '9'; ++digit)
    pid = pid * 10 + (*digit - '0');
  return pid;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

std::int64_t peak_memory_of_children_bytes() {
  rusage usage{};
  if (::getrusage(RUSAGE_CHILDREN, &usage) != 0) return 0;
  return usage.ru_maxrss * 1024;
}

}  // namespace ddbench::launch
