#include "harness/experiment/ingest/program_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include "analyzer/store/maintenance/shared_store.h"
#include "core/error.h"
#include "core/files/owned_directory.h"
#include "core/run_case/program_case.h"

namespace ddbench::experiment {

namespace {

/// What a terminal shows of a line that was written over after carriage returns.
std::string last_state(std::string line) {
  while (!line.empty() && line.back() == '\r') line.pop_back();
  const std::size_t begin = line.rfind('\r');
  return begin == std::string::npos ? line : line.substr(begin + 1);
}

constexpr std::size_t kMostShownBytes = 1 << 20;  // of a rank's output, each time that news are looked for
constexpr std::size_t kBeginBytes = 64 * 1024;  // of a rank's output: libraries are loaded before the program runs

/// Of a piece of UTF-8, without the character that goes on behind it.
std::size_t end_of_characters(std::string_view piece) {
  for (std::size_t bytes = 1; bytes <= 4 && bytes < piece.size(); ++bytes) {
    const auto c = static_cast<unsigned char>(piece[piece.size() - bytes]);
    if (c >= 0xC0) return piece.size() - bytes;
    if (c < 0x80) break;
  }
  return piece.size();
}

/// ld.so ignores a preloaded object that it cannot open (the first form). What that object needs is needed by the program (the others).
std::optional<std::string> reason_in(const std::string& line) {
  static const std::regex kIgnored(R"(ld\.so: object '[^']*/ddbench_\w+\.so' from LD_PRELOAD cannot be preloaded \((.+)\): ignored)");
  static const std::regex kRequired(R"(: ([^:]*: version `[^']+' not found) \(required by [^)]*/ddbench_\w+\.so\))");
  static const std::regex kSymbol(R"(symbol lookup error: [^:]*/ddbench_\w+\.so: (undefined symbol: \S+))");
  if (line.find("/ddbench_") == std::string::npos || line.size() > 4096) return std::nullopt;
  std::smatch found;
  for (const std::regex* form : {&kIgnored, &kRequired, &kSymbol}) {
    if (std::regex_search(line, found, *form)) return found[1].str();
  }
  return std::nullopt;
}

}  // namespace

ProgramOutput::ProgramOutput(const RunCase& run_case, std::filesystem::path run_directory)
    : run_directory_(std::move(run_directory)),
      shown_bytes_(is_program(run_case) ? static_cast<std::size_t>(run_case.world_size()) : 0) {}

std::filesystem::path ProgramOutput::log_of(std::size_t rank) const {
  return run_directory_ / fmt::format("rank{}.log", rank);
}

bool ProgramOutput::show(RunObserver& observer) {
  bool may_have_more = false;
  for (std::size_t rank = 0; rank < shown_bytes_.size(); ++rank) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(log_of(rank), error);
    if (error || bytes <= shown_bytes_[rank]) continue;
    std::ifstream log(log_of(rank), std::ios::binary);
    log.seekg(static_cast<std::streamoff>(shown_bytes_[rank]));
    std::string news(std::min<std::size_t>(bytes - shown_bytes_[rank], kMostShownBytes), '\0');
    log.read(news.data(), static_cast<std::streamsize>(news.size()));
    news.resize(static_cast<std::size_t>(log.gcount()));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = news.find('\n', begin)) != std::string::npos; begin = end + 1)
      observer.on_output(static_cast<int>(rank), last_state(news.substr(begin, end - begin)));
    // A progress bar, which ends no line: keep its present text. A line that is too long is shown in pieces.
    const bool is_full = news.size() == kMostShownBytes;
    const std::size_t written = news.find_last_of('\r', is_full ? news.size() - 2 : std::string::npos);  // the last may be of "\r\n"
    const bool is_bar = written != std::string::npos && written > begin;
    if (is_bar || (is_full && begin == 0)) {
      const std::size_t end = is_bar ? written : end_of_characters(news);
      observer.on_output(static_cast<int>(rank), last_state(news.substr(begin, end - begin)));
      begin = end;
    }
    shown_bytes_[rank] += begin;
    may_have_more = may_have_more || news.size() == kMostShownBytes;
  }
  return may_have_more;
}

void ProgramOutput::keep(const std::filesystem::path& store, const store::RunId& run) const {
  const std::filesystem::path directory = output_directory(store, run);
  for (std::size_t rank = 0; rank < shown_bytes_.size(); ++rank) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(log_of(rank), error);
    if (error || bytes == 0) continue;
    store::make_in_folder_beside(store, directory, kOutputPurpose);
    const std::filesystem::path kept = directory / log_of(rank).filename();
    if (!std::filesystem::copy_file(log_of(rank), kept, std::filesystem::copy_options::overwrite_existing,
                                    error)) {
      throw Error(
          ErrorCode::kRunFailed,
          fmt::format("the output of rank {} cannot be kept in {}: {}", rank, kept.string(), error.message()),
          error.value(), kept.string());
    }
  }
}

bool is_output_file(const std::string& relative_path) {
  constexpr std::string_view kBegin = "rank";
  constexpr std::string_view kEnd = ".log";
  if (relative_path.size() <= kBegin.size() + kEnd.size()) return false;
  return relative_path.starts_with(kBegin) && relative_path.ends_with(kEnd) &&
         std::all_of(relative_path.begin() + kBegin.size(), relative_path.end() - kEnd.size(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

std::filesystem::path output_base(const std::filesystem::path& store) {
  std::filesystem::path base = store;
  base += ".logs";
  return base;
}

std::filesystem::path output_directory(const std::filesystem::path& store, const store::RunId& run) {
  return output_base(store) / run;
}

std::vector<std::string> loader_errors(const std::filesystem::path& run_directory, int ranks) {
  std::map<std::string, int> first_rank;  // by reason
  for (int rank = 0; rank < ranks; ++rank) {
    std::ifstream log(run_directory / fmt::format("rank{}.log", rank), std::ios::binary);
    std::string begin(kBeginBytes, '\0');
    log.read(begin.data(), kBeginBytes);
    begin.resize(static_cast<std::size_t>(log.gcount()));
    std::istringstream lines(begin);
    for (std::string line; std::getline(lines, line);) {
      if (const auto reason = reason_in(line)) first_rank.emplace(*reason, rank);
    }
  }
  std::vector<std::string> notes;
  for (const auto& [reason, rank] : first_rank) {
    notes.push_back(fmt::format(
        "ddbench's recorder could not be loaded into the program, whose processes are therefore not recorded (first on rank {}): {}. Use a "
        "ddbench that was built for the system in which the program runs",
        rank, reason));
  }
  return notes;
}

}  // namespace ddbench::experiment
