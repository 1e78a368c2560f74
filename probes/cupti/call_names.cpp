#include "probes/cupti/call_names.h"

#include <cstdint>
#include <vector>

namespace ddbench::cuda {
namespace {

constexpr std::string_view kUnknown = "cuda_call";

std::uint64_t key_of(const CUpti_ActivityAPI& call) noexcept {
  return (static_cast<std::uint64_t>(call.kind) << 32) | call.cbid;
}

std::string_view ask(const CUpti_ActivityAPI& call) {
  const char* name = nullptr;
  const bool is_runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  cuptiGetCallbackName(is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, call.cbid,
                       &name);
  return name != nullptr ? name : kUnknown;
}

}  // namespace

void CallNames::learn(std::span<const CUpti_Activity* const> records) {
  std::vector<const CUpti_ActivityAPI*> unknown;
  {
    const std::lock_guard lock(mutex_);
    for (const CUpti_Activity* const record : records) {
      if (record->kind != CUPTI_ACTIVITY_KIND_RUNTIME && record->kind != CUPTI_ACTIVITY_KIND_DRIVER) continue;
      const auto& call = reinterpret_cast<const CUpti_ActivityAPI&>(*record);
      if (names_.try_emplace(key_of(call), kUnknown).second) unknown.push_back(&call);
    }
  }
  for (const CUpti_ActivityAPI* const call : unknown) {
    const std::string_view name = ask(*call);
    const std::lock_guard lock(mutex_);
    names_[key_of(*call)] = name;
  }
}

std::string_view CallNames::of(const CUpti_ActivityAPI& call) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(key_of(call));
  return found != names_.end() ? found->second : kUnknown;
}

}  // namespace ddbench::cuda
