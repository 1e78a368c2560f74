#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/unique_handle.h"

namespace ddbench::launch {

/// The variable that names another file of claims than that of the machine: for containers that share cores, and for tests.
inline constexpr const char* kCoreClaimsVariable = "DDBENCH_CORE_CLAIMS";

/// $DDBENCH_CORE_CLAIMS, else /dev/shm/ddbench-cores.
std::filesystem::path core_claims_file();

struct WantedCore {
  std::vector<int> cores;  ///< that the rank may take, best first
  int slot = 0;            ///< of the rank among those that share these cores; from cores.size() on, cores are shared by its own run
  std::string run_id;
  std::chrono::milliseconds patience{1000};  ///< for the ranks of a run that has just ended
};

/// One core of this machine, for one rank, held against the ranks of all runs of all users. Held by locks on ranges of one file that
/// every user may write (open file descriptions, fcntl(2)): the kernel releases them with the process, and nobody waits for one.
/// What the file contains only names who shares a core, and that somebody did: a file with other content, or one that somebody
/// else has made unusable (root takes none that its owner alone may write), costs names or sight of other users' runs (then claims
/// are the user's own), never a core.
/// Not seen: programs that are no ranks of built-in workloads, and ranks in containers with a /dev/shm of their own.
class CoreClaim {
 public:
  CoreClaim() = default;
  /// Takes the core of its slot, else the first that is free of other runs. Where none is, shares that of its slot if another run is
  /// there, else one where another run is. From slot cores.size() on a rank shares the core of its slot: where no other run is, the
  /// ranks of a run are spread evenly, in whichever order they come. Throws nothing for a bad file.
  CoreClaim(const std::filesystem::path& file, const WantedCore& wanted);

  int core() const noexcept { return core_; }  ///< -1: none was wanted
  /// The run that has used the core at any time since it was claimed, for people: "run 20261121T183511-3303bb6b". Empty: none is
  /// known, other ranks of the own run aside.
  std::string shared_with() const;
  /// Why other runs, or those of other users, are not seen; empty: they are.
  const std::string& blind() const noexcept { return blind_; }

 private:
  bool take_any(int preferred, const WantedCore& wanted);
  bool take(int core);
  int core_of_others(int preferred, const WantedCore& wanted) const;
  void share(int core);
  std::string other_run_on(int core) const;  ///< empty: none, or the own one
  std::string other_run(const std::string& run) const;

  UniqueFd file_;
  std::string run_id_;
  int core_ = -1;
  bool exclusive_ = false;
  std::uint64_t sharers_before_ = 0;
  std::string found_there_;  ///< of a core that is shared from the begin
  std::string blind_;
};

}  // namespace ddbench::launch
