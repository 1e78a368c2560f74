#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/files/temporary_directory.h"
#include "harness/launch/control/messages.h"
#include "harness/launch/transfer/sampled_spool.h"

/// How a rank's files get to the launcher's run directory when no file system is shared.
namespace ddbench::launch {

/// Appends the chunk to its file in the run's directory. Throws Error{kRunFailed} for a name that is none of
/// this rank's ("rank3.spool", "rank3.4711.spool", "rank3.log"), Error{kEnvironment} when it cannot be
/// written.
void keep_chunk(const std::filesystem::path& run_directory, int rank, const FileChunk& chunk);

/// Removes the directories that ShippedFiles of killed ranks left on this machine. What a run left for `ddbench db recover`, in
/// whatever store it is, stays. Throws as ddbench::remove_abandoned.
void remove_files_of_killed_ranks();

/// The rank's end: a private directory on its own machine, whose spools and logs are sent as they grow. What
/// waits to be sent waits on the disk: memory is bounded however slow the launcher takes it.
class ShippedFiles {
 public:
  using Send = std::function<void(const FileChunk&)>;
  /// `send` may wait, and throws when the launcher is gone.
  explicit ShippedFiles(Send send) : send_(std::move(send)) {}

  /// Makes the directory; standard output and error go to a log in it from now on. Clears away what killed
  /// ranks left on this machine. Throws as TemporaryDirectory.
  void open(const std::string& run_id, int rank);
  /// Sends a SampledSpool of what is recorded into spool(). Call after open(), before spool().
  void reduce_spool(StepSampler sampler);
  /// Where to record, in the directory: "rank3.spool", or a file that stays here.
  std::filesystem::path spool() const;

  /// Removes the directory: for a process that ends without unwinding.
  void discard() noexcept;

  /// Sends what has been appended since, up to about `most_bytes`. Returns true when nothing is left. Any
  /// thread. `is_rest`: nothing more is written, and nothing waits for more.
  bool ship(std::size_t most_bytes, bool is_rest = false);

 private:
  std::filesystem::path file(const char* extension) const;
  void follow_spool(bool is_rest);
  bool ship_file(const std::filesystem::path& file, std::size_t& left);

  Send send_;
  std::mutex mutex_;  // guards all below
  std::optional<TemporaryDirectory> directory_;
  std::string run_id_;
  int rank_ = 0;
  std::optional<StepSampler> sampler_;            // set: the spool is sent reduced
  std::optional<SampledSpool> reduced_;              // once there is a spool
  std::map<std::string, std::uint64_t> sent_bytes_;  // by file name
};

}  // namespace ddbench::launch
