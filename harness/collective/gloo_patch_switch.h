#pragma once

#include <cstdlib>
#include <string_view>

namespace ddbench::collective {

/// The user's switch for the change that gloo/gloo_trylock_patch.h makes to Gloo, an environment variable
/// that ranks inherit: "off" leaves Gloo as it is.
inline constexpr const char* kGlooTrylockPatchVariable = "DDBENCH_GLOO_TRYLOCK_PATCH";

inline bool gloo_trylock_patch_is_on() {
  const char* value = std::getenv(kGlooTrylockPatchVariable);
  return value == nullptr || std::string_view(value) != "off";
}

}  // namespace ddbench::collective
