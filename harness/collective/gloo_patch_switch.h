#pragma once

#include <cstdlib>
#include <string_view>

namespace ddbench::collective {

/// How a run's facts and `ddbench doctor` call the change that gloo/gloo_trylock_patch.h makes to Gloo.
inline constexpr const char* kFactGlooTrylockPatch = "gloo.trylock_patch";

/// The user's switch, an environment variable that ranks inherit: "off" leaves Gloo as it is.
inline constexpr const char* kGlooTrylockPatchVariable = "DDBENCH_GLOO_TRYLOCK_PATCH";

inline bool gloo_trylock_patch_is_on() {
  const char* value = std::getenv(kGlooTrylockPatchVariable);
  return value == nullptr || std::string_view(value) != "off";
}

}  // namespace ddbench::collective
