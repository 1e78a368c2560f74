#pragma once

#include <cstdint>
#include <string_view>

namespace ddbench::ddp {

/// What a rank does outside of steps and collectives, while others wait for it, and may take minutes over.
enum class LongWork : std::uint8_t { kNone, kDrawParameters, kReadCheckpoint, kWriteCheckpoint, kHashParameters };
inline constexpr int kLongWorks = 5;

/// "writes a checkpoint"; empty for kNone.
constexpr std::string_view to_string(LongWork work) noexcept {
  constexpr std::string_view kWords[kLongWorks] = {"", "draws the parameters", "reads a checkpoint", "writes a checkpoint",
                                                   "hashes the parameters"};
  return kWords[static_cast<int>(work)];
}

}  // namespace ddbench::ddp
