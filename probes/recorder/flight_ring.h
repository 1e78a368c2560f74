#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ddbench::host {

/// One collective. `end_ns` is 0 while the rank is in it.
struct FlightEntry {
  static constexpr std::size_t kNameWords = 4;
  std::atomic<std::uint64_t> correlation{0};  ///< collective_key()
  std::atomic<std::int64_t> begin_ns{0};
  std::atomic<std::int64_t> end_ns{0};
  std::array<std::atomic<std::uint64_t>, kNameWords> name{};  ///< characters, zero padded
  std::uint64_t reserved = 0;
};

/// The last collectives of a process, in a file that it maps beside its spool: the launcher reads it when the run hangs, also of a process
/// that is stopped. Any thread enters and leaves; about ten stores each, no system call.
struct FlightRing {
  static constexpr std::uint64_t kMagic = 0x3174'6867'696c'6664;  // "dflight1"
  static constexpr std::size_t kEntries = 32;
  static constexpr std::size_t kGroups = 16;
  std::uint64_t magic = kMagic;
  std::atomic<std::uint64_t> entered{0};
  std::array<std::atomic<std::uint64_t>, kGroups> groups{};  ///< communicator number << 32 | ranks; 0: none
  std::array<FlightEntry, kEntries> entries{};

  /// Returns the place for leave().
  std::uint64_t enter(std::string_view name, std::uint64_t correlation, std::int64_t now_ns) noexcept;
  void leave(std::uint64_t place, std::int64_t now_ns) noexcept;
  /// The size of a communicator; those beyond kGroups are left out.
  void add_group(std::uint16_t communicator, std::uint32_t ranks) noexcept;
};
static_assert(std::is_standard_layout_v<FlightRing> && sizeof(FlightEntry) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

inline constexpr const char* kFlightSuffix = ".flight";  ///< "rank0.flight", "rank0.123.flight"

/// Makes the file and maps it until the process ends. Null where that fails: then nothing is kept.
FlightRing* map_flight_ring(const char* file) noexcept;

/// A collective as read back.
struct FlightOperation {
  std::string name;
  std::uint64_t correlation = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

struct FlightRecord {
  std::vector<FlightOperation> operations;       ///< as entered
  std::map<std::uint16_t, std::uint32_t> sizes;  ///< ranks by communicator
};

/// Nothing where the file is none of these. Entries that are being written meanwhile may be left out or mixed.
std::optional<FlightRecord> read_flight(const std::filesystem::path& file);

}  // namespace ddbench::host
