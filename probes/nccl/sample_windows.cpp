#include "probes/nccl/sample_windows.h"

#include <algorithm>
#include <utility>

#include "core/text/number.h"

namespace ddbench::nccl {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// So that the thread ends soon when it is to end.
constexpr milliseconds kLongestSleep{50};

std::optional<milliseconds> parse_ms(std::string_view text) noexcept {
  const auto value = number_from<long>(text);
  return value && *value > 0 ? std::optional(milliseconds(*value)) : std::nullopt;
}

}  // namespace

std::optional<SampleWindow> parse_sample_window(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto on = parse_ms(text.substr(0, slash));
  const auto period = parse_ms(text.substr(slash + 1));
  if (!on || !period || *on >= *period) return std::nullopt;
  return SampleWindow{*on, *period};
}

SampleWindows::SampleWindows(SampleWindow window, std::function<void(bool)> set)
    : window_(window), set_(std::move(set)), thread_([this] { run(); }) {}

SampleWindows::~SampleWindows() {
  stopping_.store(true);
  thread_.join();
}

void SampleWindows::run() {
  bool is_on = true;  // the initial state given to NCCL
  while (!stopping_.load()) {
    const auto now = std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch());
    const milliseconds into = now % window_.period;
    const bool wanted = into < window_.on;
    if (wanted != is_on) set_(wanted);
    is_on = wanted;
    const milliseconds left = (wanted ? window_.on : window_.period) - into;
    std::this_thread::sleep_for(std::min(left, kLongestSleep));
  }
}

}  // namespace ddbench::nccl
