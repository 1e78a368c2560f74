#include "harness/experiment/ingest/loader_errors.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

namespace ddbench::experiment {
namespace {

constexpr std::size_t kBeginBytes = 64 * 1024;  // of a rank's output: libraries are loaded before the program runs

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
