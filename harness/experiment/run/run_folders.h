#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/files/owned_directory.h"
#include "core/run_case/records.h"

namespace ddbench::experiment {

/// What runs that are being deleted from a store left beside it: the output of their programs, and checkpoints in the folder that
/// ddbench chose (<store>.checkpoints/<run>). Folders that the user named are left alone. Whatever the records say, only folders
/// of this user directly in <store>.logs and <store>.checkpoints are touched: with ddbench's marker, or with nothing in them, as
/// make_marked() of a killed process leaves them.
///
/// They get other names in the transaction that deletes the rows, which is quick, and are removed after it, which can take
/// minutes. A process that is killed before the rows are gone leaves folders under other names: the next one gives the names
/// back. One that is killed later leaves folders that the next one removes.
class RunFolders {
 public:
  explicit RunFolders(std::filesystem::path store) : store_(std::move(store)) {}
  RunFolders(const RunFolders&) = delete;
  RunFolders& operator=(const RunFolders&) = delete;
  /// Gives the names back unless remove() was called.
  ~RunFolders();

  /// Renames the folders of `deleted`, except checkpoints that one of `kept` continues from and folders that hold something of
  /// others. Call it while the store is locked. `kept_are_known`: all other runs of the store are in `kept`; if not, no
  /// checkpoints are touched.
  void put_aside(std::span<const store::RunRecord> deleted, std::span<const store::RunRecord> kept, bool kept_are_known);
  /// Removes what was put aside, now or by a killed process. Returns a note for each folder that stays though its run is gone.
  std::vector<std::string> remove();

 private:
  struct Folder {
    OwnedDirectory directory;  ///< under its other name
    std::filesystem::path base;
    std::string name;  ///< a run's id
    bool of_now = true;
    const IsOurs is_ours;
  };
  struct Kind;

  void put_aside(const Kind& kind, const std::string& name);
  void adopt_left_over(const Kind& kind, const std::set<std::string>& kept);

  std::filesystem::path store_;
  std::vector<Folder> aside_;
  std::vector<std::string> notes_;
};

/// Removes, or gives their names back to, the folders that killed processes put aside. What cannot be done now stays for the
/// next call.
void settle_folders_aside(const std::filesystem::path& store) noexcept;

}  // namespace ddbench::experiment
