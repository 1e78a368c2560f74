#include "probes/preload/mpi_communicators.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/text/text_hash.h"
#include "probes/preload/communicators.h"
#include "probes/preload/original.h"

namespace ddbench::inject::mpi {
namespace {

using GroupOf = int(Handle, Handle*);
using FreeGroup = int(Handle*);
using TranslateRanks = int(Handle, int, const int*, Handle, int*);

/// MPI_COMM_WORLD. Open MPI's is an object, which may lie in the program and not in its library (a copy
/// relocation): where the whole program finds it. MPICH's is a number of its ABI.
Handle world() {
  void* found = ::dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
  if (found == nullptr)
    found = find_function_if_any("ompi_mpi_comm_world");  // loaded for itself alone, as Python does
  if (found != nullptr) return static_cast<Handle>(found);
  return reinterpret_cast<Handle>(std::uintptr_t{0x44000000});
}

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

// MPI asks that all ranks of a communicator call its collectives in one order, the nonblocking ones among
// them: the n-th is the same on each. So are communicators of the same members made in one order.
class Communicators {
 public:
  std::uint64_t key_of_next(Handle communicator) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = uses_.try_emplace(communicator);
    CommunicatorUse& use = place->second;
    if (is_new) {
      const std::uint64_t members = hash_of_members(communicator);
      use.number = communicator_number(members, made_[members]++);
      report_place(asked(find_question("PMPI_Comm_rank"), world()), asked(find_question("PMPI_Comm_size"), world()));
      if (!is_between_groups(communicator)) use.ranks = static_cast<int>(size_of(communicator));
    }
    report_size(use);
    return collective_key(use.number, ++use.collectives);
  }

  void forget(Handle communicator) {
    const std::lock_guard lock(mutex_);
    uses_.erase(communicator);
  }

 private:
  std::mutex mutex_;
  std::map<Handle, CommunicatorUse> uses_;
  std::map<std::uint64_t, std::uint64_t> made_;  // by members
};

Communicators& communicators() {
  static Communicators* const all = new Communicators;  // the program may use MPI until the very end
  return *all;
}

}  // namespace

// The program's MPI is one, and does not go away.
Question* find_question(const char* function) {
  return reinterpret_cast<Question*>(find_function(function));
}

int asked(Question* question, Handle about) {
  int answer = 0;
  question(about, &answer);
  return answer;
}

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

void forget(Handle communicator) {
  communicators().forget(communicator);
}

}  // namespace ddbench::inject::mpi
