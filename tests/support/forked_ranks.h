#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hang_limit.h"
#include "harness/collective/key_value_store.h"

namespace ddbench::test {

/// A directory that is removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Rendezvous through files of a directory: a key is a file that appears complete.
class DirectoryStore final : public collective::KeyValueStore {
 public:
  explicit DirectoryStore(std::filesystem::path directory) : directory_(std::move(directory)) {}
  void set(const std::string& key, const collective::Bytes& value) override;
  collective::Bytes get(const std::string& key, std::chrono::milliseconds timeout) override;

 private:
  std::filesystem::path file_of(const std::string& key) const;
  std::filesystem::path directory_;
};

struct RankOutcome {
  std::string text;          ///< what the body returned, or "Error: <message>" or "exception: <what>"
  bool failed = false;       ///< it threw
  int killed_by_signal = 0;  ///< 0 when the process ended in order
};

using RankBody = std::function<std::string(int rank, collective::KeyValueStore& rendezvous)>;

/// Runs `body` in `world` forked processes, one a rank, and returns when all have ended, in the order of the
/// ranks. The calling process must have one thread. A rank that takes longer than `limit` is killed
/// (SIGKILL).
std::vector<RankOutcome> run_ranks(int world, const RankBody& body,
                                   std::chrono::seconds limit = kHangs);

}  // namespace ddbench::test
