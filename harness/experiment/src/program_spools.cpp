#include "program_spools.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "ddbench/collective/nccl_log.h"
#include "ddbench/host/spool.h"
#include "ddbench/record/error.h"
#include "ddbench/record/nccl_event.h"

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

/// What has a name that was never told is left out. False when there was any: no recorder writes such.
template <typename Named>
bool drop_nameless(std::vector<Named>& all, const std::vector<std::string>& names) {
  return std::erase_if(all, [&names](const Named& each) { return each.name_id >= names.size(); }) == 0;
}

ProcessRecording read_spool(const fs::path& file) {
  host::SpoolReader reader(file);
  host::SpoolBatch batch;
  ProcessRecording process;
  try {
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
  const bool has_names = drop_nameless(batch.spans, batch.new_names);
  if (!drop_nameless(batch.scalars, batch.new_names) || !has_names) {
    process.damage = fmt::format("the spool {} uses names that it does not tell", file.string());
  }
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

std::vector<ProcessRecording> read_spools(const fs::path& directory) {
  std::vector<ProcessRecording> processes;
  for (const fs::path& file : files_in(directory, ".spool")) processes.push_back(read_spool(file));
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
