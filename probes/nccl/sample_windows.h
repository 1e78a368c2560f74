#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>

namespace ddbench::nccl {

/// `on` out of every `period`, of the wall clock: ranks of machines with synchronised clocks sample together.
struct SampleWindow {
  std::chrono::milliseconds on{0};
  std::chrono::milliseconds period{0};
};

/// "100/1000": 100 ms of every second. Nothing for other text, or for windows without any time off.
std::optional<SampleWindow> parse_sample_window(std::string_view text) noexcept;

/// Calls `set(true)` where a window begins and `set(false)` where it ends, on a thread of its own.
class SampleWindows {
 public:
  SampleWindows(SampleWindow window, std::function<void(bool)> set);
  ~SampleWindows();
  SampleWindows(const SampleWindows&) = delete;
  SampleWindows& operator=(const SampleWindows&) = delete;

 private:
  void run();

  const SampleWindow window_;
  const std::function<void(bool)> set_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace ddbench::nccl
