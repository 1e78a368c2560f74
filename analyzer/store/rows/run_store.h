#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/store/rows/encoded_spans.h"
#include "analyzer/store/sqlite/open_mode.h"
#include "core/run_case/records.h"
#include "core/span.h"

namespace ddbench::store {

struct RunTexts;

/// A run that has ended, with its summaries. What it refers to must outlive it.
struct CompleteRun {
  const RunRecord& run;
  const RunTexts& texts;  ///< of `run`
  std::span<const RankRecord> ranks;  ///< each once
  std::span<const StepRecord> steps;
  std::span<const CollectiveRecord> collectives;
};

/// One SQLite file (WAL, foreign keys, user_version = schema version; FORMAT.md). Several processes may write
/// at once. One RunStore is used by one thread at a time. Every method throws Error: kBadInput for a file
/// that is no store, is newer than this program, or a reference that matches nothing; kRunFailed for a full
/// disk or a read-only file. The message names the file.
class RunStore {
 public:
  static RunStore open(const std::filesystem::path& file, OpenMode mode);
  RunStore(RunStore&&) noexcept;
  RunStore& operator=(RunStore&&) noexcept;
  ~RunStore();

  const std::filesystem::path& file() const noexcept;

  // Writing. Each call is one transaction, or a part of the Batch that is open; an unknown run is an
  // Error{kBadInput}.

  /// Throws Error{kBadInput} when the id is not a run id (is_run_id) or taken, and Error{kRunFailed} when the keys of a (damaged) store are
  /// used up.
  void create_run(const RunRecord& run);
  /// As create_run, put_ranks, put_steps and put_collectives of each run, in less time. After an error a Batch must not be committed: some of
  /// the runs may be in it.
  void add_runs(std::span<const CompleteRun> runs);
  /// Every column of the row but its id. The sign of life is only of runs that are running.
  void update_run(const RunRecord& run);
  /// This process drives the run. Until update_run closes it, or let_go(), each call that writes to it through this object
  /// requires, in its transaction, that the run is stored as running with this process as its owner; else it throws
  /// Error{kRunFailed}, which says who took it, or that it was deleted, and nothing is written.
  void drive(const RunId& id);
  void let_go() noexcept;
  /// Notes that the owner of a run lives: owner.heartbeat_wall_ns, read within the transaction. False, and nothing is changed,
  /// when the run is not stored as running, or, of a run that this object drives, with another owner.
  bool beat(const RunId& id);
  /// Replaces rows of the same rank.
  void put_ranks(const RunId& id, std::span<const RankRecord> ranks);
  /// Adds spans after those the rank has, in compressed chunks of bounded size (a small last chunk is filled
  /// up). `names[name_id]` names the spans; name ids are the rank's own and stay so. Names are stored once a
  /// rank: later calls may add names at the end or pass fewer; changing a stored name is an Error{kBadInput}.
  void append_spans(const RunId& id, int rank, std::span<const Span> spans,
                    std::span<const std::string> names);
  /// Per-step values of a rank ("loss"); replaces values of the same rank, name and step.
  void append_step_values(const RunId& id, int rank, std::string_view name,
                          std::span<const std::pair<std::uint32_t, double>> step_values);
  /// Replaces rows of the same step and rank.
  void put_steps(const RunId& id, std::span<const StepRecord> steps);
  /// Replaces all collectives of the run.
  void put_collectives(const RunId& id, std::span<const CollectiveRecord> collectives);
  /// Replaces all kernels of the run.
  void put_kernels(const RunId& id, std::span<const KernelRecord> kernels);
  /// Deletes the run's spans and their names, as prune does: they are about to be stored anew.
  void delete_spans(const RunId& id);

  /// Adds the next version of the baseline `name`: 1 to 64 letters, digits and . _ / -. Its runs must exist.
  NamedBaseline add_baseline(std::string_view name, std::string_view reference, std::span<const RunId> runs);
  /// Deletes all versions; the runs stay. An unknown name is an Error{kBadInput}.
  void delete_baseline(std::string_view name);

  // Reading. But for run() and find(), an unknown run is an Error{kBadInput}.

  /// Called once for each run that runs(), run(), find("last") or find(name) leave out because its row is
  /// damaged. Without a handler they are left out silently.
  void on_unreadable(std::function<void(const UnreadableRun&)> handler);

  std::vector<RunRecord> runs(const Query& query = {}) const;  ///< newest first; unreadable ones are left out
  std::int64_t count(const Query& query) const;  ///< of runs(), without its limit; unreadable ones count, too
  /// All runs, newest first, until `visit` returns false; unreadable ones are left out. `visit` may not change
  /// the store.
  void visit_runs(const std::function<bool(RunRecord&&)>& visit) const;
  /// `reference`: "last" (stored last, not is_baseline), an id, a run name (newest wins), or a unique prefix
  /// or suffix of an id; tried in this order. Throws Error{kBadInput} stating what the store contains
  /// instead, and Error{kRunFailed} when the row of the one run that an id names is unreadable.
  RunRecord find(std::string_view reference) const;
  /// Runs stored as running though their owner is gone (is_abandoned), newest first.
  std::vector<RunRecord> abandoned_runs() const;
  /// Nothing when there is no such run or its row is unreadable.
  std::optional<RunRecord> run(const RunId& id) const;
  /// The id that `id_or_part` is, or is the only one to begin or end with: also that of an unreadable run.
  /// Throws Error{kBadInput} as find().
  RunId find_id(std::string_view id_or_part) const;
  std::vector<RankRecord> ranks(const RunId& id) const;  ///< ordered by rank
  std::vector<StepRecord> steps(const RunId& id) const;  ///< ordered by step, rank
  /// The same, one at a time. `visit` may read the store.
  void visit_steps(const RunId& id, const std::function<void(const StepRecord&)>& visit) const;
  std::vector<CollectiveRecord> collectives(const RunId& id) const;
  std::vector<KernelRecord> kernels(const RunId& id) const;
  /// The same of many runs, in the order of `ids` (each once), in a few queries for all of them.
  std::vector<RunRows> rows(std::span<const RunId> ids) const;
  std::vector<Span> spans(const RunId& id, int rank) const;  ///< in the order recorded
  /// Only those with first_step <= step <= last_step, so none of kNoStep; decodes only the chunks that may
  /// hold some.
  std::vector<Span> spans(const RunId& id, int rank, std::uint32_t first_step, std::uint32_t last_step) const;
  /// All of a rank's spans in the order recorded, in pieces of one stored chunk (at most 16,384 spans): for what must not hold
  /// them all. `visit` may read the store.
  void visit_spans(const RunId& id, int rank, const std::function<void(std::span<const Span>)>& visit) const;
  /// Only those with first_step <= step <= last_step.
  void visit_spans(const RunId& id, int rank, std::uint32_t first_step, std::uint32_t last_step,
                   const std::function<void(std::span<const Span>)>& visit) const;
  /// One more than the last step that a stored span of any rank is of, among `run_case.total_steps()`: how far there is
  /// something to read.
  std::uint32_t recorded_steps(const RunRecord& run) const;
  /// The same, to be decoded elsewhere: EncodedSpans::decode() needs no store and may run on any thread.
  EncodedSpans encoded_spans(const RunId& id, int rank, std::uint32_t first_step, std::uint32_t last_step) const;
  std::vector<std::string> span_names(const RunId& id, int rank) const;
  /// Those with first_step <= step <= last_step, ordered by step. kNoStep is the last step that there is.
  std::vector<std::pair<std::uint32_t, double>> step_values(const RunId& id, int rank, std::string_view name,
                                                            std::uint32_t first_step = 0,
                                                            std::uint32_t last_step = kNoStep) const;
  std::vector<NamedBaseline> baselines() const;  ///< the newest version of each, by name
  /// Oldest first; empty when there is no such baseline.
  std::vector<NamedBaseline> baseline_versions(std::string_view name) const;

 private:
  friend class Batch;
  class Impl;
  explicit RunStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// While it lives, all that is written to the store is one transaction: other processes see and wait for it
/// as such. It happens with commit(), or not at all.
class Batch {
 public:
  explicit Batch(RunStore& store);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();
  void commit();

 private:
  const class Database* database_;
  std::unique_ptr<class Transaction> transaction_;
};

}  // namespace ddbench::store
