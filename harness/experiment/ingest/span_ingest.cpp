#include "harness/experiment/ingest/span_ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "core/clock.h"
#include "core/error.h"
#include "harness/experiment/ingest/launch_notes.h"

namespace ddbench::experiment {
namespace {

constexpr std::size_t kSpansAtOnce = 1 << 16;  // 3 MB

}  // namespace

std::filesystem::path spool_file(const std::filesystem::path& run_directory, int rank) {
  return run_directory / fmt::format("rank{}.spool", rank);
}

SpanIngest::SpanIngest(store::RunStore& store, store::RunId run_id, std::filesystem::path run_directory,
                       int world_size)
    : store_(store),
      run_id_(std::move(run_id)),
      run_directory_(std::move(run_directory)),
      ranks_(static_cast<std::size_t>(world_size)) {}

void SpanIngest::show_life() {
  constexpr std::int64_t kEvery_ns = 10'000'000'000;
  if (shown_ns_ && now_ns() - *shown_ns_ < kEvery_ns) return;
  shown_ns_ = now_ns();
  try {
    if (store_.beat(run_id_)) return;
  } catch (const Error&) {
    return;  // a full disk is no reason to end a run whose spools are whole; the next heartbeat may be written
  }
  throw Error(ErrorCode::kRunFailed, fmt::format("run {} was closed in {} by another ddbench, which took it for dead", run_id_,
                                                 store_.file().string()));
}

void SpanIngest::skip_stored() {
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    ranks_[static_cast<std::size_t>(rank)].to_skip = store_.spans(run_id_, rank).size();
  }
}

bool SpanIngest::poll() {
  bool has_moved = false;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    // A reader reports damage after it has returned everything before it, so that one read is not enough.
    for (std::size_t moved = 0; moved < kSpansAtOnce;) {
      host::SpoolBatch batch;
      if (!read(rank, batch)) break;
      move(rank, batch);
      if (shown_ns_) show_life();
      if (batch.spans.empty() && batch.scalars.empty() && batch.new_names.empty()) break;
      has_moved = true;
      moved += std::max<std::size_t>(batch.spans.size(), 1);
    }
  }
  return has_moved;
}

void SpanIngest::drain() {
  while (poll()) {
  }
}

bool SpanIngest::read(int rank, host::SpoolBatch& batch) {
  RankSpool& spool = ranks_[static_cast<std::size_t>(rank)];
  if (!spool.damage.empty()) return false;
  try {
    if (!spool.reader) {
      const auto file = spool_file(run_directory_, rank);
      std::error_code missing;
      if (!std::filesystem::exists(file, missing)) return false;
      spool.reader = std::make_unique<host::SpoolReader>(file);
    }
    batch = spool.reader->read(kSpansAtOnce);
    spool.reader->check_rank(rank);
    return true;
  } catch (const Error& error) {
    if (error.native_code() != 0) throw;  // not the spool, but the machine
    spool.damage = fmt::format("rank {}: {}", rank, error.message());
    return false;
  }
}

std::vector<std::string> SpanIngest::notes() const {
  std::vector<std::string> notes;
  for (const RankSpool& spool : ranks_) {
    for (const std::string& note : {spool.invalid, spool.damage}) {
      if (!note.empty()) notes.push_back(note);
    }
  }
  return notes;
}

void SpanIngest::move(int rank, host::SpoolBatch& batch) {
  RankSpool& spool = ranks_[static_cast<std::size_t>(rank)];
  for (std::string& name : batch.new_names) spool.names.push_back(std::move(name));
  spool.dropped = batch.dropped;
  if (batch.invalid > 0) spool.invalid = invalid_note(rank, spool_file(run_directory_, rank), batch);
  const std::size_t skipped = std::min(spool.to_skip, batch.spans.size());
  spool.to_skip -= skipped;
  const std::span<const Span> fresh = std::span<const Span>(batch.spans).subspan(skipped);
  if (!fresh.empty()) {
    store_.append_spans(run_id_, rank, fresh, spool.names);
    stored_ += fresh.size();
  }
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, double>>> by_name;
  for (const host::Scalar& scalar : batch.scalars)
    by_name[scalar.name_id].emplace_back(scalar.step, scalar.value);
  for (const auto& [name_id, step_values] : by_name) {
    store_.append_step_values(run_id_, rank, spool.names.at(name_id), step_values);
  }
}

}  // namespace ddbench::experiment
