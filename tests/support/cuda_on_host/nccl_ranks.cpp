#include "nccl_ranks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

namespace ddbench::cuda_on_host {
namespace {

constexpr std::size_t kAllSlots = std::size_t{4} << 20;
constexpr std::size_t kAllPipes = std::size_t{4} << 20;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcquire = std::memory_order_acquire;

[[noreturn]] void throw_errno(const std::string& what) {
  throw NcclError(ncclSystemError, what + ": " + std::strerror(errno));
}

std::string name_of(const ncclUniqueId& id) {
  const std::size_t length = ::strnlen(id.internal, sizeof id.internal);
  const std::string name(id.internal, length);
  if (name.empty() || name.find('/', 1) != std::string::npos) {
    throw NcclError(ncclInvalidArgument, "the id is not from ncclGetUniqueId");
  }
  return name;
}

/// A zombie process counts as dead, too.
bool is_alive(pid_t process) {
  if (::kill(process, 0) != 0 && errno == ESRCH) return false;
  std::string text;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), text);
  const std::size_t after_name = text.rfind(") ");
  return after_name == std::string::npos || (text[after_name + 2] != 'Z' && text[after_name + 2] != 'X');
}

}  // namespace

struct alignas(64) NcclRanks::Pipe {
  std::atomic<std::uint64_t> written;
  std::atomic<std::uint64_t> read;
};

struct NcclRanks::Memory {
  std::atomic<int> here;
  std::array<RankSeat, kMost> seats;
  std::array<Pipe, kMost * kMost> pipes;
  alignas(64) std::array<std::byte, kAllSlots> slots;
  std::array<std::byte, kAllPipes> pipe_data;
};

NcclRanks::NcclRanks(const ncclUniqueId& id, int count, int rank, const RankPlace& place)
    : name_(name_of(id)), count_(count), rank_(rank) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);
  // Whoever comes first makes it; it is as long and as empty for all of them.
  const int fd = ::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) throw_errno("open shared memory");
  const bool is_long_enough = ::ftruncate(fd, sizeof(Memory)) == 0;
  void* const mapped = is_long_enough
                           ? ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                           : MAP_FAILED;
  ::close(fd);
  if (mapped == MAP_FAILED) {
    ::shm_unlink(name_.c_str());
    throw_errno("map shared memory");
  }
  memory_ = static_cast<Memory*>(mapped);
  RankSeat& seat = memory_->seats[static_cast<std::size_t>(rank)];
  pid_t nobody = 0;
  if (!seat.process.compare_exchange_strong(nobody, ::getpid())) {
    ::munmap(memory_, sizeof(Memory));
    throw NcclError(ncclInvalidUsage, "rank " + std::to_string(rank) + " is there twice");
  }
  seat.place = place;
  seat.state.store(RankSeat::kHere, kRelease);
  memory_->here.fetch_add(1);
  is_complete();
}

NcclRanks::~NcclRanks() {
  ::munmap(memory_, sizeof(Memory));
}

bool NcclRanks::is_complete() noexcept {
  if (memory_->here.load() < count_) return false;
  ::shm_unlink(name_.c_str());  // by all of them: the last to come may have died before it did so
  return true;
}

void NcclRanks::leave(bool aborted) noexcept {
  memory_->seats[static_cast<std::size_t>(rank_)].state.store(aborted ? RankSeat::kAborted : RankSeat::kLeft,
                                                              kRelease);
  ::shm_unlink(name_.c_str());
}

const RankSeat& NcclRanks::seat(int rank) const noexcept {
  return memory_->seats[static_cast<std::size_t>(rank)];
}

int NcclRanks::find_gone(RankSet awaited) const {
  for (int rank = 0; rank < count_; ++rank) {
    const pid_t process = seat(rank).process.load();
    if (rank == rank_ || process == 0) continue;
    const int state = seat(rank).state.load(kAcquire);
    if (state == RankSeat::kAborted) return rank;
    if (state == RankSeat::kLeft ? (awaited >> rank & 1) != 0 : !is_alive(process)) return rank;
  }
  return -1;
}

template <typename Condition>
RankSet NcclRanks::ranks_where(const Condition& condition) const noexcept {
  RankSet set = 0;
  for (int rank = 0; rank < count_; ++rank) {
    if (condition(seat(rank))) set |= RankSet{1} << rank;
  }
  return set;
}

std::size_t NcclRanks::slot_size() const noexcept {
  return kAllSlots / 2 / static_cast<std::size_t>(count_) / 64 * 64;
}

std::uint64_t NcclRanks::next_round() const noexcept {
  return seat(rank_).published.load() + 1;
}

RankSet NcclRanks::readers_before(std::uint64_t round) const noexcept {
  return ranks_where([&](const RankSeat& seat) { return seat.consumed.load(kAcquire) + 2 < round; });
}

std::byte* NcclRanks::slot(int rank, std::uint64_t round) const noexcept {
  return memory_->slots.data() + (static_cast<std::size_t>(rank) * 2 + round % 2) * slot_size();
}

void NcclRanks::publish(std::uint64_t round) noexcept {
  memory_->seats[static_cast<std::size_t>(rank_)].published.store(round, kRelease);
}

RankSet NcclRanks::not_published(std::uint64_t round, RankSet of) const noexcept {
  return of & ranks_where([&](const RankSeat& seat) { return seat.published.load(kAcquire) < round; });
}

void NcclRanks::consume(std::uint64_t round) noexcept {
  memory_->seats[static_cast<std::size_t>(rank_)].consumed.store(round, kRelease);
}

std::size_t NcclRanks::pipe_size() const noexcept {
  return kAllPipes / static_cast<std::size_t>(count_ * count_) / 64 * 64;
}

NcclRanks::Pipe& NcclRanks::pipe(int from, int to) const noexcept {
  return memory_->pipes[static_cast<std::size_t>(from * count_ + to)];
}

std::byte* NcclRanks::pipe_data(int from, int to) const noexcept {
  return memory_->pipe_data.data() + static_cast<std::size_t>(from * count_ + to) * pipe_size();
}

std::size_t NcclRanks::write(int to, const std::byte* data, std::size_t size) noexcept {
  Pipe& ring = pipe(rank_, to);
  const std::uint64_t written = ring.written.load();
  const std::size_t room = pipe_size() - (written - ring.read.load(kAcquire));
  const std::size_t at = written % pipe_size();
  const std::size_t some = std::min({size, room, pipe_size() - at});
  std::memcpy(pipe_data(rank_, to) + at, data, some);
  ring.written.store(written + some, kRelease);
  return some;
}

std::size_t NcclRanks::read(int from, std::byte* data, std::size_t size) noexcept {
  Pipe& ring = pipe(from, rank_);
  const std::uint64_t read = ring.read.load();
  const std::size_t there = ring.written.load(kAcquire) - read;
  const std::size_t at = read % pipe_size();
  const std::size_t some = std::min({size, there, pipe_size() - at});
  std::memcpy(data, pipe_data(from, rank_) + at, some);
  ring.read.store(read + some, kRelease);
  return some;
}

}  // namespace ddbench::cuda_on_host
