// Spools whose frames are sound, with values that no recorder writes: from the file to the rows of the store.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "analyzer/finalize/finalize.h"
#include "core/run_case/program_case.h"
#include "expect_error.h"
#include "harness/experiment/ingest/program_ingest.h"
#include "harness/experiment/ingest/span_ingest.h"
#include "harness/experiment/recover/import_spools.h"
#include "harness/launch/control/messages.h"
#include "harness/launch/transfer/shipped_files.h"
#include "probes/recorder/spool_writer.h"
#include "temporary_directory.h"

namespace ddbench::experiment {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kSteps = 8;

/// A step of 100 ns with a compute kernel and a collective, for each step.
std::vector<Span> sound_spans() {
  std::vector<Span> spans;
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    const std::int64_t at = 1000 + 100 * static_cast<std::int64_t>(step);
    spans.push_back({.begin_ns = at, .end_ns = at + 60, .step = step, .kind = SpanKind::kForward});
    spans.push_back({.begin_ns = at + 60,
                     .end_ns = at + 90,
                     .bytes = 64,
                     .correlation = collective_key(1, step + 1),
                     .name_id = 1,
                     .step = step,
                     .kind = SpanKind::kCommunication});
    spans.push_back({.begin_ns = at, .end_ns = at + 100, .step = step, .kind = SpanKind::kStep});
  }
  return spans;
}

std::string file_bytes(const std::filesystem::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

class HostileSpools : public testing::Test {
 protected:
  void create_run(bool program) {
    store::RunRecord run;
    run.id = run_id_;
    if (program) set_program(run.run_case, {"train"});
    run.run_case.gpus_per_node = 2;
    run.run_case.warmup = 0;
    run.run_case.steps = static_cast<int>(kSteps);
    store_.create_run(run);
    for (int rank = 0; rank < 2; ++rank) ranks_.push_back({.rank = rank});
    for (store::RankRecord& rank : ranks_) rank.clock.shared_clock = true;
    store_.put_ranks(run_id_, ranks_);
  }

  /// The spans of a whole training and behind them `more`.
  std::filesystem::path write_spool(const std::string& name, int rank, const std::vector<Span>& more,
                                    const std::string& run_id = "run") const {
    host::SpoolWriter writer(directory_.path() / name, rank, run_id);
    writer.write_names(std::vector<std::string>{"gemm", "all_reduce"});
    writer.write_spans(sound_spans());
    writer.write_spans(more);
    writer.write_end();
    writer.close();
    return directory_.path() / name;
  }

  /// Of the engine's spools rank0.spool and rank1.spool.
  std::vector<std::string> finalized_notes() {
    SpanIngest ingest(store_, run_id_, directory_.path(), 2);
    ingest.drain();
    analyzer::finalize_run(store_, run_id_);
    return ingest.notes();
  }

  void expect_sound_run() {
    const std::vector<store::StepRecord> steps = store_.steps(run_id_);
    ASSERT_EQ(steps.size(), 2 * kSteps);
    for (const store::StepRecord& step : steps) {
      EXPECT_EQ(step.duration_ns, 100);
      EXPECT_EQ(step.partition[store::StepPart::kForward], 60);
    }
    const std::vector<store::KernelRecord> kernels = store_.kernels(run_id_);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].count, 2 * kSteps);
    EXPECT_EQ(kernels[0].total_ns, 2 * kSteps * 60);
  }

  test::TemporaryDirectory directory_;
  store::RunId run_id_ = store::new_run_id();
  store::RunStore store_ = store::RunStore::open(directory_ / "results.db", store::OpenMode::kReadWrite);
  std::vector<store::RankRecord> ranks_;
};

std::vector<Span> spans_of_kinds(int first, int last) {
  std::vector<Span> spans;
  for (int kind = first; kind <= last; ++kind) {
    spans.push_back({.begin_ns = 1010, .end_ns = 1020, .step = 0, .kind = static_cast<SpanKind>(kind)});
  }
  return spans;
}

TEST_F(HostileSpools, UnknownKindsAreCountedAndLeftOut) {
  create_run(false);
  for (int rank = 0; rank < 2; ++rank)
    write_spool(fmt::format("rank{}.spool", rank), rank, spans_of_kinds(10, 255));
  const std::vector<std::string> notes = finalized_notes();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(
      notes[0].find(
          "rank 0: 246 impossible values in the spool rank0.spool were left out; the first is span 0 of "
          "the frame at offset "),
      0u)
      << notes[0];
  EXPECT_NE(notes[0].find(": kind 10 is unknown"), std::string::npos) << notes[0];
  EXPECT_EQ(notes[1].find("rank 1: 246 impossible values"), 0u) << notes[1];
  expect_sound_run();
}

TEST_F(HostileSpools, OneUnknownKindThatARankElsewhereSends) {
  create_run(false);
  write_spool("rank0.spool", 0, {});
  const std::filesystem::path sent = write_spool("sent", 1, spans_of_kinds(255, 255));
  launch::FileChunk chunk{"rank1.spool", {}};
  const std::string bytes = file_bytes(sent);
  chunk.bytes.assign(bytes.begin(), bytes.end());
  keep_chunk(directory_.path(), 1, std::get<launch::FileChunk>(launch::decode(launch::encode(chunk))));
  const std::vector<std::string> notes = finalized_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].find("rank 1: 1 impossible values in the spool rank1.spool"), 0u) << notes[0];
  expect_sound_run();
}

TEST_F(HostileSpools, TimesAtTheEndsOfInt64) {
  create_run(false);
  std::vector<Span> spans;
  for (const auto& [begin_ns, end_ns] : {std::pair{kMin, kMax},
                                         {kMin, kMin},
                                         {kMax, kMax},
                                         {std::int64_t{0}, kMax},
                                         {kMin, std::int64_t{2000}},
                                         {kMax, kMin}}) {
    for (int kind = 0; kind < kSpanKindCount; ++kind) {
      spans.push_back({.begin_ns = begin_ns,
                       .end_ns = end_ns,
                       .correlation = 1,
                       .step = 3,
                       .kind = static_cast<SpanKind>(kind)});
    }
  }
  write_spool("rank0.spool", 0, spans);
  write_spool("rank1.spool", 1, spans);
  ASSERT_EQ(finalized_notes().size(), 2u);
  expect_sound_run();
}

// As many of the longest times as a sum in int64 does not hold.
TEST_F(HostileSpools, SumsOfTheLongestTimesThatAreAllowed) {
  create_run(false);
  const Span longest{.begin_ns = -(std::int64_t{1} << 58), .end_ns = std::int64_t{1} << 58, .step = 3};
  std::vector<Span> spans;
  for (int kind = 1; kind < kSpanKindCount; ++kind) {
    spans.insert(spans.end(), 40, longest);
    for (std::size_t i = spans.size() - 40; i < spans.size(); ++i)
      spans[i].kind = static_cast<SpanKind>(kind);
  }
  write_spool("rank0.spool", 0, spans);
  write_spool("rank1.spool", 1, spans);
  EXPECT_TRUE(finalized_notes().empty());
  EXPECT_EQ(store_.kernels(run_id_).front().total_ns, kMax);
}

TEST_F(HostileSpools, ADamagedSpoolCostsOnlyItsOwnRest) {
  create_run(false);
  const std::filesystem::path damaged = write_spool("rank0.spool", 0, {});
  write_spool("rank1.spool", 1, {});
  std::string bytes = file_bytes(damaged);
  bytes[bytes.size() - 60] ^= 1;
  std::ofstream(damaged, std::ios::binary) << bytes;
  const std::vector<std::string> notes = finalized_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].find("rank 0: cannot read spool "), 0u) << notes[0];
  EXPECT_EQ(store_.spans(run_id_, 1).size(), sound_spans().size());
}

TEST_F(HostileSpools, ARankCannotSpeakForAnother) {
  create_run(false);
  write_spool("rank0.spool", 0, {});
  write_spool("rank1.spool", 0, {});
  const std::vector<std::string> notes = finalized_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("rank1.spool says that it is of rank 0, not of rank 1"), std::string::npos)
      << notes[0];
  EXPECT_TRUE(store_.spans(run_id_, 1).empty());
}

/// Each of a program's span kinds, lanes, names and times that no recorder writes.
std::vector<Span> impossible_spans() {
  std::vector<Span> spans = spans_of_kinds(10, 255);
  spans.push_back({.begin_ns = 1, .end_ns = 2, .lane = static_cast<Lane>(255)});
  spans.push_back({.begin_ns = 1, .end_ns = 2, .name_id = 2, .kind = SpanKind::kHost});
  spans.push_back({.begin_ns = kMin, .end_ns = kMax, .kind = SpanKind::kNcclEvent});
  spans.push_back({.begin_ns = kMin, .end_ns = 5, .kind = SpanKind::kStep});
  spans.push_back({.begin_ns = kMax, .end_ns = kMax, .correlation = 9, .kind = SpanKind::kCommunication});
  return spans;
}

TEST_F(HostileSpools, AProgramsToo) {
  create_run(true);
  for (int rank = 0; rank < 2; ++rank)
    write_spool(fmt::format("rank{}.7.spool", rank), rank, impossible_spans());
  const ProgramRecording recording = ingest_program(store_, *store_.run(run_id_), directory_.path());
  EXPECT_EQ(recording.notes.at(0).find("rank 0: 251 impossible values in the spool rank0.7.spool"), 0u)
      << recording.notes.at(0);
  EXPECT_EQ(recording.facts.at("program.steps"), std::to_string(kSteps));
  analyzer::finalize_run(store_, run_id_);
  EXPECT_EQ(store_.steps(run_id_).size(), 2 * kSteps);
}

TEST_F(HostileSpools, AnImportRefusesThem) {
  write_spool("rank0.7.spool", 0, impossible_spans(), "alone host/boot");
  EXPECT_ERROR(ErrorCode::kBadInput, "251 impossible values in the spool rank0.7.spool",
               import_spools(directory_ / "imported.db", directory_.path(), {}));
  write_spool("rank0.7.spool", 1, {}, "alone host/boot");
  EXPECT_ERROR(ErrorCode::kBadInput, "says that it is of rank 1, not of rank 0",
               import_spools(directory_ / "imported.db", directory_.path(), {}));
}

}  // namespace
}  // namespace ddbench::experiment
