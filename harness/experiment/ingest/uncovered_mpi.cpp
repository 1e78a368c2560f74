#include "harness/experiment/ingest/uncovered_mpi.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/bounded.h"
#include "core/program/mpi_report.h"

namespace ddbench::experiment {
namespace {

constexpr std::size_t kMostNamed = 8;
constexpr std::int64_t kMostCalls = std::int64_t{1} << 53;

std::string calls_in_words(std::uint64_t calls) {
  return fmt::format("{} call{}", calls, calls == 1 ? "" : "s");
}

}  // namespace

void UncoveredMpi::take(const ProcessRecording& process) {
  for (const auto& [name, value] : process.counters) {
    if (!name.starts_with(kUncoveredMpiCalls)) continue;
    calls_[name.substr(kUncoveredMpiCalls.size())] +=
        static_cast<std::uint64_t>(bounded(value, 0, kMostCalls));
  }
  for (const std::string& name : process.spans.names) {
    if (name.starts_with(kUnknownMpi)) unknown_library_ = name.substr(kUnknownMpi.size());
  }
}

void UncoveredMpi::describe(std::vector<std::string>& notes) const {
  if (!unknown_library_.empty()) {
    notes.push_back(
        fmt::format("the program uses {}, whose handles ddbench does not know: its collectives are not "
                    "recorded (those of Open "
                    "MPI, of MPICH and of what shares its ABI are)",
                    unknown_library_));
  }
  if (calls_.empty()) return;
  std::vector<std::pair<std::string, std::uint64_t>> functions(calls_.begin(), calls_.end());
  std::stable_sort(functions.begin(), functions.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> named;
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (i < kMostNamed) {
      named.push_back(fmt::format("{} ({})", functions[i].first, calls_in_words(functions[i].second)));
    } else {
      others += functions[i].second;
    }
  }
  if (others > 0) named.push_back(fmt::format("others ({})", calls_in_words(others)));
  notes.push_back(fmt::format(
      "not covered: {}, on all ranks. Their time counts as host time, and their bytes are not known",
      fmt::join(named, ", ")));
}

}  // namespace ddbench::experiment
