#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>

#include "analyzer/finalize/finalize.h"
#include "analyzer/run/run_summary.h"
#include "harness/experiment/ingest/program_ingest.h"
#include "harness/experiment/ingest/span_ingest.h"
#include "core/error.h"
#include "core/run_case/program_case.h"
#include "fuzz_targets.h"
#include "probes/recorder/spool_format.h"
#include "temporary_directory.h"

namespace ddbench::fuzz {
namespace {

constexpr int kRunsOfAStore = 500;

/// A store that is used for many inputs: making one takes longer than any of them.
class Scratch {
 public:
  store::RunStore& store() {
    if (runs_++ % kRunsOfAStore == 0) {
      store_.reset();
      directory_ = std::make_unique<test::TemporaryDirectory>();
      store_.emplace(store::RunStore::open(*directory_ / "results.db", store::OpenMode::kReadWrite));
    }
    return *store_;
  }
  const std::filesystem::path& path() const { return directory_->path(); }

 private:
  std::unique_ptr<test::TemporaryDirectory> directory_;
  std::optional<store::RunStore> store_;
  int runs_ = 0;
};

Scratch& scratch() {
  static Scratch only;
  return only;
}

/// Frames as they follow each other, while a whole header is left: visit(offset, header).
template <typename Visit>
void visit_frames(std::span<std::uint8_t> file, const Visit& visit) {
  std::size_t at = sizeof(host::SpoolPreamble);
  while (file.size() >= at + sizeof(host::FrameHeader)) {
    host::FrameHeader header;
    std::memcpy(&header, file.data() + at, sizeof(header));
    const std::size_t left = file.size() - at - sizeof(header);
    // A length that points behind the file would end it here: the frame takes what is left.
    header.payload_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(header.payload_bytes, left));
    visit(at, header);
    std::memcpy(file.data() + at, &header, sizeof(header));
    at += sizeof(header) + header.payload_bytes;
  }
}

void reseal_spool(std::span<std::uint8_t> file) {
  const host::SpoolPreamble preamble;
  if (file.size() < sizeof(preamble)) return;
  std::memcpy(file.data(), &preamble, sizeof(preamble));
  std::uint32_t frames = 0;
  visit_frames(file, [&](std::size_t at, host::FrameHeader& header) {
    header.sequence = frames;
    header.type = frames++ == 0 ? std::uint32_t{host::kRunFrame} : header.type;
    header.payload_check = host::spool_checksum(file.data() + at + sizeof(header), header.payload_bytes);
    header.header_check = host::header_checksum(header);
  });
}

/// The same file as that of another rank.
std::vector<std::uint8_t> as_of_rank(Bytes input, std::int32_t rank) {
  std::vector<std::uint8_t> file(input.begin(), input.end());
  bool first = true;
  visit_frames(file, [&](std::size_t at, host::FrameHeader& header) {
    if (!std::exchange(first, false) || header.payload_bytes < sizeof(rank)) return;
    std::memcpy(file.data() + at + sizeof(header), &rank, sizeof(rank));
    header.payload_check = host::spool_checksum(file.data() + at + sizeof(header), header.payload_bytes);
    header.header_check = host::header_checksum(header);
  });
  return file;
}

void write_spools(const std::filesystem::path& directory, Bytes input, const char* ending) {
  for (int rank = 0; rank < 2; ++rank) {
    const std::vector<std::uint8_t> file = as_of_rank(input, rank);
    std::ofstream out(directory / ("rank" + std::to_string(rank) + ending), std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
}

store::RunRecord new_run(store::RunStore& store, bool program) {
  store::RunRecord run;
  run.id = store::new_run_id();
  if (program) set_program(run.run_case, {"train"});
  run.run_case.gpus_per_node = 2;
  run.run_case.warmup = 1;
  run.run_case.steps = 8;
  store.create_run(run);
  std::vector<store::RankRecord> ranks(2);
  ranks[1].rank = 1;
  ranks[1].clock = {{1000, 500, 10}, {900'000, 700, 10}, false};
  store.put_ranks(run.id, ranks);
  return run;
}

template <typename Read>
void take_in(Bytes input, const char* ending, bool program, const Read& read) {
  store::RunStore& store = scratch().store();
  const std::filesystem::path directory = scratch().path() / (program ? "program" : "engine");
  std::filesystem::create_directories(directory);
  write_spools(directory, input, ending);
  const store::RunRecord run = new_run(store, program);
  try {
    read(store, run, directory);
    analyzer::finalize_run(store, run.id);
    static_cast<void>(analyzer::summarize(store, run.id));
  } catch (const Error&) {
    // refused: as good as read
  }
  std::filesystem::remove_all(directory);
}

void take_in_spools(Bytes input) {
  take_in(input, ".spool", false, [](store::RunStore& store, const store::RunRecord& run, const auto& directory) {
    experiment::SpanIngest ingest(store, run.id, directory, 2);
    ingest.poll();
  });
  take_in(input, ".7.spool", true, [](store::RunStore& store, const store::RunRecord& run, const auto& directory) {
    experiment::ingest_program(store, run, directory);
  });
}

}  // namespace

const Target kSpools{"spools", take_in_spools, reseal_spool};

}  // namespace ddbench::fuzz
