// The tables span_chunk and span_name.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "analyzer/store/codec/span_codec.h"
#include "analyzer/store/rows/encoded_spans.h"
#include "analyzer/store/rows/run_store_impl.h"
#include "analyzer/store/rows/stored_spans.h"
#include "analyzer/store/sqlite/row_insertion.h"
#include "core/error.h"

namespace ddbench::store {
namespace {

constexpr std::size_t kMostSpansAChunk = 16384;  // one segment of the codec
// A chunk carries its table of tags, about 1 KB: a last chunk of fewer spans is filled up before a new one
// begins.
constexpr std::int64_t kSmallChunkSpans = 4096;
constexpr std::int64_t kMostReserved = 4 << 20;
constexpr std::int64_t kLastPosition = std::int64_t{1} << 62;

constexpr const char* kAllChunks =
    "SELECT position, chunk FROM span_chunk WHERE run_key = ? AND rank = ? ORDER BY position";

// Those that may hold spans of steps from the fourth parameter to the third.
constexpr const char* kChunksOfSteps =
    "SELECT position, chunk FROM span_chunk WHERE run_key = ? AND rank = ? AND first_step <= ? AND last_step >= ? "
    "ORDER BY position";

struct RankKey {
  std::int64_t run_key;
  int rank;
  const RunId& run;
};

void decode_chunk(std::span<const std::byte> chunk, const std::string& what, std::vector<Span>& out) {
  try {
    decode_stored_spans(chunk, out);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} cannot be read: {}", what, error.message()),
                error.native_code(), what);
  }
}

/// Of the spans from `from` on.
void keep_steps(std::uint32_t first_step, std::uint32_t last_step, std::vector<Span>& spans, std::size_t from) {
  const auto other = [&](const Span& span) {
    return span.step == kNoStep || span.step < first_step || span.step > last_step;
  };
  spans.erase(std::remove_if(spans.begin() + static_cast<std::ptrdiff_t>(from), spans.end(), other), spans.end());
}

std::string chunk_title(const RunId& id, int rank, std::int64_t position, const std::filesystem::path& file) {
  return fmt::format("chunk {} of the spans of rank {} of run {} in {}", position, rank, id, file.string());
}

void add_names(const Database& database, RankKey key, std::span<const std::string> names) {
  Statement select =
      database.prepare("SELECT name FROM span_name WHERE run_key = ? AND rank = ? ORDER BY name_id");
  select.bind(key.run_key, key.rank);
  std::string stored;
  std::size_t known = 0;
  for (; select.step(); ++known) {
    select.read(stored);
    if (known < names.size() && stored != names[known]) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("rank {} has stored name {} as \"{}\": it cannot become \"{}\" (in {})",
                              key.rank, known, stored, names[known], database.file().string()),
                  0, database.file().string());
    }
  }
  if (known >= names.size()) return;
  static const RowInsertion insertion("INSERT", "span_name", {"run_key", "rank", "name_id", "name"});
  insertion.insert(database, names.subspan(known), [&](RowValues& values, const std::string& name) {
    values(key.run_key, key.rank, known++, name, key.run);
  });
}

void put_chunk(const Database& database, RankKey key, std::int64_t position, std::span<const Span> spans) {
  std::uint32_t first_step = kNoStep, last_step = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (const Span& span : spans) {
    if (span.step != kNoStep) {
      first_step = std::min(first_step, span.step);
      last_step = std::max(last_step, span.step);
    }
    first_ns = std::min(first_ns, span.begin_ns);
    last_ns = std::max(last_ns, span.end_ns);
  }
  static const RowInsertion insertion(
      "INSERT OR REPLACE", "span_chunk",
      {"run_key", "rank", "position", "span_count", "first_ns", "last_ns", "chunk", "first_step", "last_step"});
  const std::vector<std::byte> chunk = encode_spans(spans);
  const auto count = static_cast<std::int64_t>(spans.size());
  if (first_step == kNoStep) {
    insertion.insert_row(database, key.run_key, key.rank, position, count, first_ns, last_ns, std::span(chunk), nullptr, nullptr, key.run);
  } else {
    insertion.insert_row(database, key.run_key, key.rank, position, count, first_ns, last_ns, std::span(chunk), first_step, last_step,
                         key.run);
  }
}

}  // namespace

void RunStore::append_spans(const RunId& id, int rank, std::span<const Span> spans,
                            std::span<const std::string> names) {
  const Database& database = impl_->database;
  Transaction transaction(database);
  const RankKey key{impl_->run_key_to_write(id), rank, id};
  add_names(database, key, names);

  std::int64_t position = 0;
  std::vector<Span> joined;
  Statement last = database.prepare(
      "SELECT position, span_count, chunk FROM span_chunk WHERE run_key = ? AND rank = ? "
      "ORDER BY position DESC LIMIT 1");
  if (!spans.empty() && last.bind(key.run_key, key.rank).step()) {
    if (last.integer(0) < 0 || last.integer(0) > kLastPosition)
      throw Error(ErrorCode::kRunFailed, fmt::format("run {} has a chunk at position {}: nothing can be added to it", id, last.integer(0)));
    position = last.integer(0) + 1;
    if (last.integer(1) < kSmallChunkSpans) {
      --position;
      decode_chunk(last.blob(2), chunk_title(id, rank, position, database.file()), joined);
      joined.insert(joined.end(), spans.begin(), spans.end());
      spans = joined;
    }
  }
  last.reset();
  for (std::size_t at = 0; at < spans.size(); at += kMostSpansAChunk) {
    put_chunk(database, key, position++, spans.subspan(at, std::min(kMostSpansAChunk, spans.size() - at)));
  }
  transaction.commit();
}

std::vector<Span> RunStore::spans(const RunId& id, int rank) const {
  // Only a hint, and bounded whatever rows say: runs are appended to while they are read.
  Statement count = impl_->database.prepare(fmt::format(
      "SELECT total(min(span_count, {})) FROM span_chunk WHERE run_key = ? AND rank = ?", kMostSpansAChunk));
  count.bind(impl_->run_key(id), rank).step();
  Statement chunks = impl_->database.prepare(kAllChunks);
  chunks.bind(impl_->run_key(id), rank);
  std::vector<Span> spans;
  spans.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(count.integer(0), 0, kMostReserved)));
  while (chunks.step())
    decode_chunk(chunks.blob(1), chunk_title(id, rank, chunks.integer(0), file()), spans);
  return spans;
}

std::vector<Span> RunStore::spans(const RunId& id, int rank, std::uint32_t first_step,
                                  std::uint32_t last_step) const {
  std::vector<Span> spans;
  visit_spans(id, rank, first_step, last_step,
              [&](std::span<const Span> piece) { spans.insert(spans.end(), piece.begin(), piece.end()); });
  return spans;
}

void RunStore::visit_spans(const RunId& id, int rank, const std::function<void(std::span<const Span>)>& visit) const {
  Statement chunks = impl_->database.prepare(kAllChunks);
  chunks.bind(impl_->run_key(id), rank);
  std::vector<Span> decoded;
  while (chunks.step()) {
    decoded.clear();
    decode_chunk(chunks.blob(1), chunk_title(id, rank, chunks.integer(0), file()), decoded);
    visit(decoded);
  }
}

void RunStore::visit_spans(const RunId& id, int rank, std::uint32_t first_step, std::uint32_t last_step,
                           const std::function<void(std::span<const Span>)>& visit) const {
  Statement chunks = impl_->database.prepare(kChunksOfSteps);
  chunks.bind(impl_->run_key(id), rank, last_step, first_step);
  std::vector<Span> decoded;
  while (chunks.step()) {
    decoded.clear();
    decode_chunk(chunks.blob(1), chunk_title(id, rank, chunks.integer(0), file()), decoded);
    keep_steps(first_step, last_step, decoded, 0);
    visit(decoded);
  }
}

EncodedSpans RunStore::encoded_spans(const RunId& id, int rank, std::uint32_t first_step,
                                     std::uint32_t last_step) const {
  Statement chunks = impl_->database.prepare(kChunksOfSteps);
  chunks.bind(impl_->run_key(id), rank, last_step, first_step);
  EncodedSpans encoded(file(), id, rank, first_step, last_step);
  while (chunks.step()) {
    const std::span<const std::byte> chunk = chunks.blob(1);
    encoded.add(chunks.integer(0), {chunk.begin(), chunk.end()});
  }
  return encoded;
}

std::vector<Span> EncodedSpans::decode() const {
  std::vector<Span> spans;
  for (const auto& [position, chunk] : chunks_) {
    const std::size_t before = spans.size();
    decode_chunk(chunk, chunk_title(run_, rank_, position, file_), spans);
    keep_steps(first_step_, last_step_, spans, before);
  }
  return spans;
}

std::uint32_t RunStore::recorded_steps(const RunRecord& run) const {
  Statement last = impl_->database.prepare("SELECT coalesce(max(last_step), -1) + 1 FROM span_chunk WHERE run_key = ?");
  last.bind(impl_->run_key(run.id)).step();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(last.integer(0), 0, run.run_case.total_steps()));
}

std::vector<std::string> RunStore::span_names(const RunId& id, int rank) const {
  Statement statement =
      impl_->database.prepare("SELECT name FROM span_name WHERE run_key = ? AND rank = ? ORDER BY name_id");
  statement.bind(impl_->run_key(id), rank);
  std::vector<std::string> names;
  while (statement.step()) statement.read(names.emplace_back());
  return names;
}

}  // namespace ddbench::store
