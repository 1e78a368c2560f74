#include "program_output.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

#include "ddbench/record/error.h"
#include "ddbench/record/program_case.h"

namespace ddbench::experiment {

ProgramOutput::ProgramOutput(const RunCase& run_case, std::filesystem::path run_directory)
    : run_directory_(std::move(run_directory)),
      shown_bytes_(is_program(run_case) ? static_cast<std::size_t>(run_case.world_size()) : 0) {}

std::filesystem::path ProgramOutput::log_of(std::size_t rank) const {
  return run_directory_ / fmt::format("rank{}.log", rank);
}

void ProgramOutput::show(RunObserver& observer) {
  for (std::size_t rank = 0; rank < shown_bytes_.size(); ++rank) {
    std::ifstream log(log_of(rank), std::ios::binary);
    log.seekg(static_cast<std::streamoff>(shown_bytes_[rank]));
    for (std::string line; std::getline(log, line) && !log.eof();) {
      shown_bytes_[rank] += line.size() + 1;
      observer.on_output(static_cast<int>(rank), line);
    }
  }
}

void ProgramOutput::keep(const std::filesystem::path& directory) const {
  for (std::size_t rank = 0; rank < shown_bytes_.size(); ++rank) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(log_of(rank), error);
    if (error || bytes == 0) continue;
    std::filesystem::create_directories(directory, error);
    const std::filesystem::path kept = directory / log_of(rank).filename();
    if (error || !std::filesystem::copy_file(log_of(rank), kept, error)) {
      throw Error(
          ErrorCode::kRunFailed,
          fmt::format("the output of rank {} cannot be kept in {}: {}", rank, kept.string(), error.message()),
          error.value(), kept.string());
    }
  }
}

std::filesystem::path output_directory(const std::filesystem::path& store, const store::RunId& run) {
  std::filesystem::path directory = store;
  directory += ".logs";
  return directory / run;
}

}  // namespace ddbench::experiment
