#include "harness/launch/supervisor/flights.h"

#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>

#include "analyzer/diagnose/hang/hang.h"
#include "core/text/number.h"
#include "core/text/quantity.h"
#include "harness/launch/control/rank_wording.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "rank";

std::int64_t newest_ns(const host::FlightRecord& record) {
  std::int64_t newest = 0;
  for (const host::FlightOperation& operation : record.operations) newest = std::max({newest, operation.begin_ns, operation.end_ns});
  return newest;
}

/// 3 of "rank3.flight" and "rank3.4711.flight".
std::optional<int> rank_of_file(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(host::kFlightSuffix)) return std::nullopt;
  const auto number = leading_number<int>(std::string_view(name).substr(kPrefix.size()));
  if (!number || !number->rest.starts_with(".")) return std::nullopt;
  return number->value;
}

std::uint16_t group_of(std::uint64_t correlation) { return static_cast<std::uint16_t>(correlation >> 48); }

/// What people count: Gloo's keys hold PyTorch's tag in their upper half and a count in the lower one (probes/preload/gloo_calls.cpp).
std::int64_t number_of(std::uint64_t correlation) {
  constexpr std::uint64_t kSequence = (std::uint64_t{1} << 48) - 1;
  constexpr int kHalfBits = 24;
  const std::uint64_t key = (correlation & kSequence) - 1;
  const std::uint64_t tag = key >> kHalfBits;
  return static_cast<std::int64_t>((tag > 0 ? tag : key & ((std::uint64_t{1} << kHalfBits) - 1)) + 1);
}

/// "0" for that of all ranks in the reference engine, which has one; else its number.
std::string group_name(std::uint16_t communicator) { return communicator == 1 ? "0" : fmt::format("{:04x}", communicator); }

analyzer::FlightDump dump_of(const RankFlight& flight, int world_size) {
  analyzer::FlightDump dump;
  dump.rank = flight.rank;
  std::int64_t order = 0;
  for (const host::FlightOperation& operation : flight.record.operations) {
    const std::uint16_t communicator = group_of(operation.correlation);
    const std::string group = group_name(communicator);
    dump.operations.push_back({order++, group, number_of(operation.correlation), operation.name, false, operation.end_ns != 0});
    const auto size = flight.record.sizes.find(communicator);
    const bool is_all = communicator == 1 || (size != flight.record.sizes.end() && size->second == static_cast<std::uint32_t>(world_size));
    analyzer::RecordedGroup& known = dump.groups[group];
    if (is_all) {
      known.description = "all ranks";
      known.ranks.clear();
      for (int rank = 0; rank < world_size; ++rank) known.ranks.push_back(rank);
    } else if (size != flight.record.sizes.end()) {
      known.description = fmt::format("{} ranks", size->second);
    }
  }
  return dump;
}

std::string stopped_in_words(const std::set<int>& stopped) {
  std::string text;
  for (const int rank : stopped) text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
  return fmt::format("rank{} {} {} stopped (SIGSTOP or a debugger)", stopped.size() == 1 ? "" : "s", text, stopped.size() == 1 ? "is" : "are");
}

bool is_stopped(const fs::path& process) {
  std::string status;
  std::getline(std::ifstream(process / "stat"), status);
  const std::size_t name_end = status.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= status.size()) return false;
  return status[name_end + 2] == 'T' || status[name_end + 2] == 't';
}

/// The rank of a program's process, as its environment says.
std::optional<int> rank_of_process(const fs::path& process, const std::string& spool_prefix) {
  std::ifstream file(process / "environ", std::ios::binary);
  const std::string environment((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string variable = "DDBENCH_SPOOL=" + spool_prefix;
  const std::size_t at = environment.find(variable);
  if (at == std::string::npos || (at > 0 && environment[at - 1] != 0)) return std::nullopt;
  const auto number = leading_number<int>(std::string_view(environment).substr(at + variable.size()));
  return number ? std::optional(number->value) : std::nullopt;
}

std::string where(const RankFlight& flight, std::int64_t now_ns) {
  const auto& operations = flight.record.operations;
  if (operations.empty()) return "in no collective yet";
  const auto name = [&](const host::FlightOperation& operation) {
    return fmt::format("{} #{} of group {}", operation.name, number_of(operation.correlation), group_name(group_of(operation.correlation)));
  };
  const auto inside = std::find_if(operations.begin(), operations.end(), [](const auto& operation) { return operation.end_ns == 0; });
  if (inside != operations.end())
    return fmt::format("in {} for {}", name(*inside), describe_time(std::chrono::nanoseconds(now_ns - inside->begin_ns)));
  return fmt::format("in no collective for {}; the last was {}",
                     describe_time(std::chrono::nanoseconds(now_ns - operations.back().end_ns)), name(operations.back()));
}

}  // namespace

std::vector<RankFlight> read_flights(const fs::path& run_directory, int world_size) {
  std::vector<RankFlight> flights;
  for (int rank = 0; rank < world_size; ++rank) flights.push_back({rank, {}});
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_directory, error)) {
    const std::optional<int> rank = rank_of_file(entry.path().filename().string());
    if (!rank || *rank >= world_size) continue;
    auto record = host::read_flight(entry.path());
    RankFlight& flight = flights[static_cast<std::size_t>(*rank)];
    if (record && newest_ns(*record) > newest_ns(flight.record)) flight.record = *std::move(record);
  }
  return flights;
}

std::set<int> stopped_ranks(const fs::path& run_directory, int world_size) {
  std::set<int> stopped;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string().front())) == 0 || !is_stopped(entry.path())) continue;
    const auto rank = rank_of_process(entry.path(), (run_directory / kPrefix).string());
    if (rank && *rank < world_size) stopped.insert(*rank);
  }
  return stopped;
}

bool stands_still(const std::vector<RankFlight>& flights, std::chrono::nanoseconds limit, std::int64_t now_ns) {
  bool inside = false;
  for (const RankFlight& flight : flights) {
    if (now_ns - newest_ns(flight.record) < limit.count()) return false;
    const auto& operations = flight.record.operations;
    inside |= std::any_of(operations.begin(), operations.end(), [](const auto& each) { return each.end_ns == 0; });
  }
  return inside;
}

std::optional<std::string> who_is_awaited(const std::vector<RankFlight>& flights, std::int64_t now_ns, const std::set<int>& stopped) {
  std::int64_t newest = 0;
  std::vector<analyzer::FlightDump> dumps;
  for (const RankFlight& flight : flights) {
    newest = std::max(newest, newest_ns(flight.record));
    dumps.push_back(dump_of(flight, static_cast<int>(flights.size())));
  }
  const analyzer::Hang hang = analyzer::find_hang(dumps);
  std::string text;
  for (const analyzer::MissingRank& missing : hang.missing) text += fmt::format("{}rank {} {}", text.empty() ? "" : "; ", missing.rank, missing.why);
  if (!stopped.empty()) text += (text.empty() ? "" : "; ") + stopped_in_words(stopped);
  if (text.empty()) return std::nullopt;
  if (hang.missing.empty() && !hang.entered_by_all.empty()) text += ", in " + hang.entered_by_all.front();
  return text + fmt::format("; no collective has begun or ended for {}", describe_time(std::chrono::nanoseconds(now_ns - newest)));
}

std::vector<std::string> flights_in_words(const std::vector<RankFlight>& flights, std::int64_t now_ns) {
  constexpr std::size_t kMostBefore = 3;
  std::vector<std::string> lines;
  for (const RankFlight& flight : flights) {
    std::string line = fmt::format("rank {}: {}", flight.rank, where(flight, now_ns));
    std::vector<std::string> before;
    for (auto each = flight.record.operations.rbegin(); each != flight.record.operations.rend() && before.size() < kMostBefore; ++each) {
      if (each->end_ns > 0) before.push_back(fmt::format("{} #{} ({})", each->name, number_of(each->correlation),
                                                         quantity(static_cast<double>(each->end_ns - each->begin_ns), "ns")));
    }
    for (std::size_t i = 0; i < before.size(); ++i) line += (i == 0 ? "; before: " : ", ") + before[i];
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ddbench::launch
