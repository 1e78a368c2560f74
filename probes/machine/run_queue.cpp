#include "probes/machine/run_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "core/text/number.h"
#include "probes/machine/kernel_files.h"

namespace ddbench::host {

RunQueueDelay::RunQueueDelay(int thread)
    : file_(::open(fmt::format("/proc/self/task/{}/schedstat", thread).c_str(), O_RDONLY | O_CLOEXEC)) {}

Measured<std::int64_t> RunQueueDelay::read_ns() const {
  std::array<char, 96> text;
  const ssize_t length = file_ ? ::pread(file_.get(), text.data(), text.size(), 0) : -1;
  if (length <= 0) return Measured<std::int64_t>::missing("/proc/self/task/*/schedstat cannot be read");
  const std::vector<std::string_view> numbers =
      words(std::string_view(text.data(), static_cast<std::size_t>(length)));
  const auto delay_ns = numbers.size() < 2 ? std::nullopt : number_from<std::int64_t>(numbers[1]);
  if (!delay_ns) return Measured<std::int64_t>::missing("schedstat does not have the run-queue delay");
  return *delay_ns;
}

int own_thread() {
  std::error_code error;
  const std::string name = std::filesystem::read_symlink("/proc/thread-self", error).filename().string();
  return number_from<int>(name).value_or(0);
}

std::vector<int> list_threads() {
  std::vector<int> threads;
  for (const std::string& name : list_names("/proc/self/task")) {
    if (const auto thread = number_from<int>(name)) threads.push_back(*thread);
  }
  return threads;
}

}  // namespace ddbench::host
