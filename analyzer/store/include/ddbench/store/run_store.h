#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ddbench/record/span.h"
#include "ddbench/store/records.h"

namespace ddbench::store {

enum class OpenMode {
  kReadOnly,   ///< never creates or migrates; a missing file is an Error{kBadInput}
  kReadWrite,  ///< creates file and directory; migrates an older store after copying it to <file>.v<N>.bak
};

/// `--db`, else DDBENCH_DB, else $XDG_DATA_HOME/ddbench/results.db, else ~/.local/share/ddbench/results.db.
std::filesystem::path default_path();

/// One SQLite file (WAL, foreign keys, user_version = schema version; FORMAT.md). Several processes may write
/// at once. One RunStore belongs to one thread. Every method throws Error: kBadInput for a file that is no
/// store, is newer than this program, or a reference that matches nothing; kRunFailed for a full disk or a
/// read-only file. The message names the file.
class RunStore {
 public:
  static RunStore open(const std::filesystem::path& file, OpenMode mode);
  RunStore(RunStore&&) noexcept;
  RunStore& operator=(RunStore&&) noexcept;
  ~RunStore();

  const std::filesystem::path& file() const noexcept;

  // --- writing (each call is one transaction) ---
  void create_run(const RunRecord& run);
  void update_run(const RunRecord& run);  ///< every column of the row but its id
  void put_ranks(const RunId& id, std::span<const RankRecord> ranks);
  /// Adds one compressed chunk. `names[name_id]` names the spans; name ids are the rank's own and stay so.
  /// Names are stored once a rank (later calls may add names at the end).
  void append_spans(const RunId& id, int rank, std::span<const Span> spans,
                    std::span<const std::string> names);
  /// Per-step values of a rank ("loss").
  void append_step_values(const RunId& id, int rank, std::string_view name,
                          std::span<const std::pair<std::uint32_t, double>> step_values);
  void put_steps(const RunId& id, std::span<const StepRecord> steps);
  void put_collectives(const RunId& id, std::span<const CollectiveRecord> collectives);
  void put_kernels(const RunId& id, std::span<const KernelRecord> kernels);
  void delete_run(const RunId& id);

  // --- reading ---
  std::vector<RunRecord> runs(const Query& query = {}) const;  ///< newest first
  /// `reference`: "last" (newest run that is not a baseline run of another), an id or a unique prefix or
  /// suffix of one, or a run name (newest wins). Throws Error{kBadInput} that says what the store holds
  /// instead.
  RunRecord find(std::string_view reference) const;
  std::optional<RunRecord> run(const RunId& id) const;
  std::vector<RankRecord> ranks(const RunId& id) const;
  std::vector<StepRecord> steps(const RunId& id) const;  ///< ordered by step, rank
  std::vector<CollectiveRecord> collectives(const RunId& id) const;
  std::vector<KernelRecord> kernels(const RunId& id) const;
  std::vector<Span> spans(const RunId& id, int rank) const;  ///< in the order recorded
  std::vector<std::string> span_names(const RunId& id, int rank) const;
  std::vector<std::pair<std::uint32_t, double>> step_values(const RunId& id, int rank,
                                                            std::string_view name) const;

 private:
  class Impl;
  explicit RunStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddbench::store
