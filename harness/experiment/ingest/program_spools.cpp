#include "harness/experiment/ingest/program_spools.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/nccl_event.h"
#include "core/text/number.h"
#include "harness/collective/nccl_log.h"
#include "harness/experiment/ingest/launch_notes.h"
#include "probes/recorder/spool.h"

namespace ddbench::experiment {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& directory, std::string_view ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// N of "rank<N>.<pid>.spool"; empty for a file of another name.
std::optional<int> rank_in_name(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with("rank")) return std::nullopt;
  const auto rank = leading_number<int>(std::string_view(name).substr(4));
  return rank && rank->rest.starts_with('.') ? std::optional(rank->value) : std::nullopt;
}

ProcessRecording read_spool(const fs::path& file, FileNames names) {
  host::SpoolReader reader(file);
  host::SpoolBatch batch;
  ProcessRecording process;
  try {
    if (names == FileNames::kOfRanks) reader.check_rank(rank_in_name(file).value_or(reader.rank()));
    batch = reader.read();
    reader.read();  // there is no more, but where the file is damaged
  } catch (const Error& error) {
    process.damage = error.message();
  }
  process.file = file;
  process.run_id = reader.run_id();
  process.rank = reader.rank();
  process.dropped = batch.dropped;
  process.ended = batch.ended;
  if (batch.invalid > 0) process.invalid = invalid_note(process.rank, file, batch);
  for (const host::Scalar& scalar : batch.scalars) {
    process.counters[batch.new_names[scalar.name_id]] = scalar.value;
  }
  process.spans = {std::move(batch.spans), std::move(batch.new_names)};
  return process;
}

}  // namespace

std::size_t ProcessRecording::collectives() const {
  return static_cast<std::size_t>(std::count_if(spans.spans.begin(), spans.spans.end(), [](const Span& span) {
    return span.kind == SpanKind::kCommunication || span.kind == SpanKind::kNcclEvent;
  }));
}

std::vector<ProcessRecording> read_spools(const fs::path& directory, FileNames names) {
  std::vector<ProcessRecording> processes;
  for (const fs::path& file : files_in(directory, ".spool")) processes.push_back(read_spool(file, names));
  return processes;
}

std::string logged_transports(const fs::path& directory) {
  collective::NcclTransports transports;
  for (const fs::path& file : files_in(directory, kNcclLogSuffix)) {
    std::stringstream log;
    log << std::ifstream(file).rdbuf();
    transports.add(log.view());
  }
  return transports.text();
}

}  // namespace ddbench::experiment
