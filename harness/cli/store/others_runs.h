#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/run_case/records.h"

namespace ddbench::cli {

/// Protects other users' runs in a store that several users share (store::is_shared) from being deleted by
/// mistake. The store itself permits it to everybody who may write the file.
class OthersRuns {
 public:
  /// `forced`: all runs may be deleted. So they may in a store that one user alone may write, whose runs ever
  /// they are.
  OthersRuns(const std::filesystem::path& store, bool forced);

  bool are_protected() const noexcept { return protected_; }
  /// Whether the run is protected: it is another user's, or nobody knows whose it is.
  bool contain(const store::RunRecord& run) const;

 private:
  bool protected_;
  std::string user_;
};

/// Who made the run; "an unknown user" where it does not say.
std::string user_of(const store::RunRecord& run);

/// "3 of alice, 1 of an unknown user".
std::string count_by_user(const std::map<std::string, std::size_t>& counts);

}  // namespace ddbench::cli
