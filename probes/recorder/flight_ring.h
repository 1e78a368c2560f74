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

#include "core/world_place.h"

namespace ddbench::host {

/// One collective. `end_ns` is 0 while the rank is in it.
struct FlightEntry {
  static constexpr std::size_t kNameWords = 4;
  std::atomic<std::uint64_t> correlation{0};  ///< collective_key()
  std::atomic<std::int64_t> begin_ns{0};
  std::atomic<std::int64_t> end_ns{0};
  std::array<std::atomic<std::uint64_t>, kNameWords> name{};  ///< characters, zero padded
  std::atomic<std::uint64_t> end_is_unknown{0};  ///< 1: end_ns is that of the next collective, as nothing reports its own
};

/// The last collectives of a process, in a file that it maps beside its spool: the launcher reads it when the run hangs, also of a process
/// that is stopped. Any thread enters and leaves; about ten stores each, no system call.
struct FlightRing {
  static constexpr std::uint64_t kMagic = 0x3274'6867'696c'6664;  // "dflight2"
  static constexpr std::size_t kEntries = 32;
  static constexpr std::size_t kGroups = 16;
  std::uint64_t magic = kMagic;
  std::atomic<std::uint64_t> entered{0};
  std::atomic<std::uint64_t> world{0};  ///< WorldPlace: ranks << 32 | rank; 0: not known
  std::array<std::atomic<std::uint64_t>, kGroups> groups{};  ///< communicator number << 32 | ranks; 0: none
  std::array<FlightEntry, kEntries> entries{};

  /// Returns the place for leave().
  std::uint64_t enter(std::string_view name, std::uint64_t correlation, std::int64_t now_ns) noexcept;
  void leave(std::uint64_t place, std::int64_t now_ns) noexcept;
  /// Nothing reports when this collective ends: until the next one it only may be under way.
  void mark_end_unknown(std::uint64_t place) noexcept;
  /// The size of a communicator; those beyond kGroups are left out.
  void add_group(std::uint16_t communicator, std::uint32_t ranks) noexcept;
  /// That with most ranks is kept.
  void set_place(WorldPlace place) noexcept;
};
static_assert(std::is_standard_layout_v<FlightRing> && sizeof(FlightEntry) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

inline constexpr const char* kFlightSuffix = ".flight";  ///< "rank0.flight", "rank0.123.flight"

inline constexpr std::string_view kNcclFlightPrefix = "nccl:";  ///< of names whose numbers count one function's calls

/// Makes the file and maps it until the process ends, and locks it as long. Null where that fails: then nothing is kept.
FlightRing* map_flight_ring(const char* file) noexcept;
/// Whether the process that mapped the file has ended. Of one on this machine.
bool has_writer_ended(const std::filesystem::path& file) noexcept;

/// A collective as read back.
struct FlightOperation {
  std::string name;
  std::uint64_t correlation = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  bool end_is_unknown = false;  ///< FlightEntry::end_is_unknown

  /// Whether the rank is in it for certain.
  bool is_inside() const noexcept { return end_ns == 0 && !end_is_unknown; }
};

struct FlightRecord {
  std::vector<FlightOperation> operations;       ///< as entered
  std::map<std::uint16_t, std::uint32_t> sizes;  ///< ranks by communicator
  std::optional<WorldPlace> place;
  std::uint64_t entered = 0;  ///< collectives, those that are no longer kept among them
};

/// The bytes of the file; empty where it is none of these.
std::string flight_bytes(const std::filesystem::path& file);
/// Nothing where these are none of a FlightRing. Entries that were being written meanwhile may be left out or mixed.
std::optional<FlightRecord> parse_flight(std::string_view bytes);

}  // namespace ddbench::host
