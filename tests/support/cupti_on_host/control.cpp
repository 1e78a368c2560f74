#include "state.h"

namespace ddbench::testing::cupti {

std::mutex& state_mutex() {
  static std::mutex mutex;
  return mutex;
}

State& state() {
  static State of_process;
  return of_process;
}

void reset() {
  const std::lock_guard lock(state_mutex());
  state() = {};
}

void drop(std::size_t records) {
  const std::lock_guard lock(state_mutex());
  state().dropped += records;
}

std::size_t buffers_held() {
  const std::lock_guard lock(state_mutex());
  return state().held.size();
}

void fail(const std::string& function, CUptiResult result) {
  const std::lock_guard lock(state_mutex());
  state().failing.erase(function);
  if (result != CUPTI_SUCCESS) state().failing.emplace(function, result);
}

std::vector<std::string> refusals() {
  const std::lock_guard lock(state_mutex());
  return state().refusals;
}

std::size_t calls(const std::string& function) {
  const std::lock_guard lock(state_mutex());
  return state().calls[function];
}

void be_version(std::uint32_t version) {
  const std::lock_guard lock(state_mutex());
  state().version = version;
}

void be_held_by(const std::string& name) {
  const std::lock_guard lock(state_mutex());
  state().holder = name;
}

void be_shared_with(const std::string& name) {
  const std::lock_guard lock(state_mutex());
  state().holder = name;
  state().holder_shares = true;
}

void be_blackwell() {
  const std::lock_guard lock(state_mutex());
  state().is_blackwell = true;
}

bool times_in_hardware() {
  const std::lock_guard lock(state_mutex());
  return state().times_in_hardware;
}

void name_call(CUpti_CallbackId runtime, const std::string& name) {
  const std::lock_guard lock(state_mutex());
  state().names[runtime] = name;
}

void when_asked_for_a_name(std::function<void()> work) {
  const std::lock_guard lock(state_mutex());
  state().when_asked_for_a_name = std::move(work);
}

bool has_subscriber() {
  const std::lock_guard lock(state_mutex());
  return state().has_subscriber;
}

std::set<CUpti_ActivityKind> enabled_kinds() {
  const std::lock_guard lock(state_mutex());
  return state().kinds;
}

bool records_call(CUpti_ActivityKind runtime_or_driver, CUpti_CallbackId call) {
  const std::lock_guard lock(state_mutex());
  return state().kinds.contains(runtime_or_driver) && !state().excepted.contains({runtime_or_driver, call});
}

std::uint64_t timestamp() {
  CUpti_TimestampCallbackFunc clock = nullptr;
  {
    const std::lock_guard lock(state_mutex());
    clock = state().clock;
  }
  return clock != nullptr ? clock() : 0;
}

}  // namespace ddbench::testing::cupti

CUptiResult CUPTIAPI cuptiGetVersion(std::uint32_t* version) {
  return ddbench::testing::cupti::answer("cuptiGetVersion", [&](ddbench::testing::cupti::State& now) {
    if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *version = now.version;
    return CUPTI_SUCCESS;
  });
}
