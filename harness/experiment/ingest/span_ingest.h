#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "probes/recorder/spool.h"

namespace ddbench::experiment {

/// File that rank `rank` spools into.
std::filesystem::path spool_file(const std::filesystem::path& run_directory, int rank);

/// Moves what the ranks have spooled into the store. Each span is moved once; poll() may be called while the
/// ranks write. Where a spool is damaged, or belongs to another rank, its rest is left out, and a note names
/// rank, file and place; the other ranks' spools are not affected.
class SpanIngest {
 public:
  SpanIngest(store::RunStore& store, store::RunId run_id, std::filesystem::path run_directory,
             int world_size);

  /// Moves what is complete in the spools, at most about 65,000 spans of each rank: ranks that record faster than they are read hold
  /// back neither the caller nor the other ranks. Ranks that have not created their spool yet are skipped. False if there was nothing
  /// to move. Throws Error of the store (disk full), or when a spool cannot be opened or read.
  bool poll();
  /// poll() until there is nothing to move: when the ranks have ended.
  void drain();

  /// Stores a heartbeat, every ten seconds at most; where the store does not take it, the next one may be
  /// stored. From the first call on, poll() does it too. Throws Error{kRunFailed} if the run is closed there:
  /// another ddbench has taken it over.
  void show_life();

  /// Before the first poll() of a run that another process began to move: leaves out what is stored already.
  void skip_stored();

  std::uint64_t dropped_spans(int rank) const { return ranks_[static_cast<std::size_t>(rank)].dropped; }
  std::uint64_t stored_spans() const noexcept { return stored_; }
  /// For people: what was left out of which spool, and why.
  std::vector<std::string> notes() const;

 private:
  struct RankSpool {
    std::unique_ptr<host::SpoolReader> reader;
    std::vector<std::string> names;
    std::uint64_t dropped = 0;
    std::size_t to_skip = 0;  ///< spans at the spool's begin that are stored
    std::string invalid;      ///< a note: values that were left out
    std::string damage;       ///< a note: why nothing more is read
  };
  bool read(int rank, host::SpoolBatch& batch);
  void move(int rank, host::SpoolBatch& batch);

  store::RunStore& store_;
  store::RunId run_id_;
  std::filesystem::path run_directory_;
  std::vector<RankSpool> ranks_;
  std::uint64_t stored_ = 0;
  std::optional<std::int64_t> shown_ns_;  ///< now_ns() of the last heartbeat
};

}  // namespace ddbench::experiment
