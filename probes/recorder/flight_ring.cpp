#include "probes/recorder/flight_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>

namespace ddbench::host {
namespace {

constexpr std::size_t kNameBytes = FlightEntry::kNameWords * sizeof(std::uint64_t);

/// As the bytes of a FlightRing lie in the file.
struct PlainEntry {
  std::uint64_t correlation;
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::array<char, kNameBytes> name;
  std::uint64_t end_is_unknown;
};
struct PlainRing {
  std::uint64_t magic;
  std::uint64_t entered;
  std::uint64_t world;
  std::array<std::uint64_t, FlightRing::kGroups> groups;
  std::array<PlainEntry, FlightRing::kEntries> entries;
};
static_assert(sizeof(PlainRing) == sizeof(FlightRing) && sizeof(PlainEntry) == sizeof(FlightEntry));

std::string printable_name(const std::array<char, kNameBytes>& characters) {
  std::string name(characters.begin(), std::find(characters.begin(), characters.end(), '\0'));
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return name;
}

}  // namespace

std::uint64_t FlightRing::enter(std::string_view name, std::uint64_t correlation, std::int64_t now_ns) noexcept {
  const std::uint64_t place = entered.fetch_add(1, std::memory_order_relaxed);
  FlightEntry& entry = entries[place % kEntries];
  std::array<std::uint64_t, FlightEntry::kNameWords> words{};
  std::memcpy(words.data(), name.data(), std::min(name.size(), sizeof words));
  entry.begin_ns.store(0, std::memory_order_relaxed);  // a concurrent reader sees no valid entry
  entry.correlation.store(correlation, std::memory_order_relaxed);
  entry.end_ns.store(0, std::memory_order_relaxed);
  entry.end_is_unknown.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < words.size(); ++i) entry.name[i].store(words[i], std::memory_order_relaxed);
  entry.begin_ns.store(now_ns, std::memory_order_release);
  return place;
}

void FlightRing::leave(std::uint64_t place, std::int64_t now_ns) noexcept {
  if (entered.load(std::memory_order_relaxed) - place > kEntries) return;  // written over
  entries[place % kEntries].end_ns.store(now_ns, std::memory_order_release);
}

void FlightRing::mark_end_unknown(std::uint64_t place) noexcept {
  if (entered.load(std::memory_order_relaxed) - place > kEntries) return;  // written over
  entries[place % kEntries].end_is_unknown.store(1, std::memory_order_release);
}

void FlightRing::add_group(std::uint16_t communicator, std::uint32_t ranks) noexcept {
  const std::uint64_t packed = std::uint64_t{communicator} << 32 | ranks;
  for (std::atomic<std::uint64_t>& group : groups) {
    std::uint64_t there = 0;
    if (group.compare_exchange_strong(there, packed) || there == packed) return;
  }
}

void FlightRing::set_place(WorldPlace known) noexcept {
  const std::uint64_t packed = static_cast<std::uint64_t>(known.ranks) << 32 | static_cast<std::uint32_t>(known.rank);
  std::uint64_t there = world.load(std::memory_order_relaxed);
  while (there >> 32 <= packed >> 32 && there != packed && !world.compare_exchange_weak(there, packed)) {
  }
}

FlightRing* map_flight_ring(const char* file) noexcept {
  const int opened = ::open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (opened < 0) return nullptr;
  void* mapped = MAP_FAILED;
  // With its blocks: on a full disk a store into the mapping would kill the program (SIGBUS).
  if (::posix_fallocate(opened, 0, sizeof(FlightRing)) == 0)
    mapped = ::mmap(nullptr, sizeof(FlightRing), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  if (mapped == MAP_FAILED) {
    ::close(opened);
    return nullptr;
  }
  // The lock is the process's own, not its children's. The descriptor stays open: closing it would end the lock.
  struct flock lock{.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  ::fcntl(opened, F_SETLK, &lock);
  return new (mapped) FlightRing;
}

bool has_writer_ended(const std::filesystem::path& file) noexcept {
  const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return false;
  struct flock lock{.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0};
  const bool known = ::fcntl(opened, F_GETLK, &lock) == 0;
  ::close(opened);
  return known && lock.l_type == F_UNLCK;
}

std::string flight_bytes(const std::filesystem::path& file) {
  std::string bytes(sizeof(PlainRing), '\0');
  if (!std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return {};
  return bytes;
}

std::optional<FlightRecord> parse_flight(std::string_view bytes) {
  PlainRing ring{};
  if (bytes.size() != sizeof ring) return std::nullopt;
  std::memcpy(&ring, bytes.data(), sizeof ring);
  if (ring.magic != FlightRing::kMagic) return std::nullopt;
  FlightRecord record;
  record.entered = ring.entered;
  constexpr std::uint64_t kMostRanks = 65536;  // as of a RunCase
  constexpr std::int64_t kLatest_ns = std::int64_t{1} << 61;  // 73 years; sums of two stay far from overflow
  const std::uint64_t ranks = ring.world >> 32;
  const auto rank = static_cast<std::uint32_t>(ring.world);
  if (ranks <= kMostRanks && rank < ranks) record.place = WorldPlace{static_cast<int>(rank), static_cast<int>(ranks)};
  for (const std::uint64_t group : ring.groups) {
    if (group != 0) record.sizes[static_cast<std::uint16_t>(group >> 32)] = static_cast<std::uint32_t>(group);
  }
  const std::uint64_t kept = std::min<std::uint64_t>(ring.entered, FlightRing::kEntries);
  for (std::uint64_t place = ring.entered - kept; place < ring.entered; ++place) {
    const PlainEntry& entry = ring.entries[place % FlightRing::kEntries];
    if (entry.begin_ns <= 0 || entry.begin_ns > kLatest_ns || entry.end_ns < 0 || entry.end_ns > kLatest_ns) continue;
    record.operations.push_back({printable_name(entry.name), entry.correlation, entry.begin_ns, entry.end_ns, entry.end_is_unknown != 0});
  }
  return record;
}

}  // namespace ddbench::host
