#include "probes/preload/mpi/communicators.h"

#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/span.h"
#include "core/text/text_hash.h"
#include "probes/preload/communicators.h"
#include "probes/preload/original.h"

namespace ddbench::inject::mpi {
namespace {

using GroupOf = int(Handle, Handle*);
using FreeGroup = int(Handle*);
using TranslateRanks = int(Handle, int, const int*, Handle, int*);

/// The group of a communicator, freed with this object.
class Group {
 public:
  Group(Handle communicator, const char* function) {
    reinterpret_cast<GroupOf*>(find_function(function))(communicator, &group_);
  }
  ~Group() { reinterpret_cast<FreeGroup*>(find_function("PMPI_Group_free"))(&group_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  Handle get() const noexcept { return group_; }
  int size() const { return asked(find_question("PMPI_Group_size"), group_); }

 private:
  Handle group_ = nullptr;
};

/// The same on all members: a hash of their ranks in MPI_COMM_WORLD, in their order.
std::uint64_t hash_of_members(const Group& group) {
  std::vector<int> ranks(static_cast<std::size_t>(group.size()));
  std::vector<int> in_world(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  const Group all(world(), "PMPI_Comm_group");
  reinterpret_cast<TranslateRanks*>(find_function("PMPI_Group_translate_ranks"))(
      group.get(), static_cast<int>(ranks.size()), ranks.data(), all.get(), in_world.data());
  return hash_text({reinterpret_cast<const char*>(in_world.data()), in_world.size() * sizeof(int)});
}

/// Both groups see the same sum.
std::uint64_t hash_of_members(Handle communicator) {
  std::uint64_t hash = hash_of_members(Group(communicator, "PMPI_Comm_group"));
  if (is_between_groups(communicator)) hash += hash_of_members(Group(communicator, "PMPI_Comm_remote_group"));
  return hash;
}

/// Of a persistent collective: apart from the others of its communicator, by which one it is and how often it
/// was started.
constexpr std::uint64_t persistent_sequence(std::uint64_t initialised) noexcept {
  return std::uint64_t{1} << 47 | (initialised & 0xF'FFFF) << 27 | 1;
}

// MPI asks that all ranks of a communicator call its collectives in one order, the nonblocking ones among
// them: the n-th is the same on each. So are communicators of the same members made in one order.
class Communicators {
 public:
  std::uint64_t key_of_next(Handle communicator) {
    const std::lock_guard lock(mutex_);
    CommunicatorUse& use = use_of(communicator).use;
    return collective_key(use.number, ++use.collectives);
  }

  std::uint64_t key_of_next_persistent(Handle communicator) {
    const std::lock_guard lock(mutex_);
    Known& known = use_of(communicator);
    return collective_key(known.use.number, persistent_sequence(known.initialised++));
  }

  void forget(Handle communicator) {
    const std::lock_guard lock(mutex_);
    known_.erase(same_word(communicator));
  }

 private:
  struct Known {
    CommunicatorUse use;
    std::uint64_t initialised = 0;  // persistent collectives
  };

  Known& use_of(Handle communicator) {
    const auto [place, is_new] = known_.try_emplace(same_word(communicator));
    CommunicatorUse& use = place->second.use;
    if (is_new) {
      const std::uint64_t members = hash_of_members(communicator);
      use.number = communicator_number(members, made_[members]++);
      report_place(asked(find_question("PMPI_Comm_rank"), world()),
                   asked(find_question("PMPI_Comm_size"), world()));
      if (!is_between_groups(communicator)) use.ranks = static_cast<int>(size_of(communicator));
    }
    report_size(use);
    return place->second;
  }

  std::mutex mutex_;
  std::map<Handle, Known> known_;
  std::map<std::uint64_t, std::uint64_t> made_;  // by members
};

Communicators& communicators() {
  static Communicators* const all = new Communicators;  // the program may use MPI until the very end
  return *all;
}

}  // namespace

bool is_between_groups(Handle communicator) {
  static Question* const test = find_question("PMPI_Comm_test_inter");
  return asked(test, communicator) != 0;
}

std::int64_t size_of(Handle communicator) {
  static Question* const own = find_question("PMPI_Comm_size");
  static Question* const others = find_question("PMPI_Comm_remote_size");
  return asked(is_between_groups(communicator) ? others : own, communicator);
}

std::uint64_t key_of_next(Handle communicator) {
  return communicators().key_of_next(communicator);
}

std::uint64_t key_of_next_persistent(Handle communicator) {
  return communicators().key_of_next_persistent(communicator);
}

void forget(Handle communicator) {
  communicators().forget(communicator);
}

}  // namespace ddbench::inject::mpi
