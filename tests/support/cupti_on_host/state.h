#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "cupti_on_host.h"

namespace ddbench::testing::cupti {

/// A buffer of the client's that CUPTI fills.
struct HeldBuffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t valid = 0;
};

/// Of the one CUPTI of the process. No callback is called with the mutex held.
struct State {
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  bool has_subscriber = false;
  std::string holder;  ///< another subscriber
  bool holder_shares = false;   ///< and allows others
  bool is_shared = false;       ///< the client's subscription is beside it
  bool is_blackwell = false;
  bool times_in_hardware = false;
  std::uint32_t version = CUPTI_API_VERSION;
  int beginnings = 0;  ///< how often the recording of kernels was enabled
  std::function<void()> when_asked_for_a_name;
  std::map<CUpti_CallbackId, std::string> names;  ///< of calls of the runtime
  std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> callbacks;

  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  bool wants_zeroed_buffers = false;  ///< the client promises them
  std::set<CUpti_ActivityKind> kinds;
  std::set<std::pair<CUpti_ActivityKind, CUpti_CallbackId>> excepted;  ///< calls without a record
  std::vector<HeldBuffer> held;
  std::map<const std::uint8_t*, std::vector<std::size_t>> offsets;  ///< of records in completed buffers
  std::size_t dropped = 0;

  std::map<std::string, CUptiResult> failing;
  std::map<std::string, std::size_t> calls;
  std::vector<std::string> refusals;
};

std::mutex& state_mutex();
State& state();  ///< with the mutex held

/// The body of each function of CUPTI: `work` with the mutex held, unless the function is to fail. What it
/// returns is noted.
template <typename Work>
CUptiResult answer(const char* function, const Work& work) {
  const std::lock_guard lock(state_mutex());
  State& now = state();
  if (const auto failing = now.failing.find(function); failing != now.failing.end()) return failing->second;
  const CUptiResult result = work(now);
  if (result == CUPTI_SUCCESS) {
    ++now.calls[function];
  } else if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) {  // the end of a buffer is no fault
    now.refusals.push_back(std::string(function) + ": " + std::to_string(static_cast<int>(result)));
  }
  return result;
}

}  // namespace ddbench::testing::cupti
