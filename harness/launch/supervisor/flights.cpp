#include "harness/launch/supervisor/flights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/diagnose/hang/hang.h"
#include "core/text/number.h"
#include "core/text/quantity.h"
#include "harness/launch/control/rank_wording.h"

namespace ddbench::launch {
namespace {


std::int64_t newest_ns(const host::FlightRecord& record) {
  std::int64_t newest = 0;
  for (const host::FlightOperation& operation : record.operations) newest = std::max({newest, operation.begin_ns, operation.end_ns});
  return newest;
}

/// None has entered or left a collective for `limit`.
bool is_quiet(const std::vector<RankFlight>& flights, std::chrono::nanoseconds limit, std::int64_t now_ns) {
  return std::all_of(flights.begin(), flights.end(),
                     [&](const RankFlight& flight) { return now_ns - newest_ns(flight.record) >= limit.count(); });
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
/// NCCL's numbers count the calls of one function: the others are another series.
std::string group_name(const host::FlightOperation& operation) {
  const std::uint16_t communicator = group_of(operation.correlation);
  std::string name = communicator == 1 ? "0" : fmt::format("{:04x}", communicator);
  if (operation.name.starts_with(host::kNcclFlightPrefix)) name += "/" + operation.name.substr(host::kNcclFlightPrefix.size());
  return name;
}

analyzer::FlightDump dump_of(const RankFlight& flight, int world_size) {
  analyzer::FlightDump dump;
  dump.rank = flight.rank;
  std::int64_t order = 0;
  for (const host::FlightOperation& operation : flight.record.operations) {
    const std::uint16_t communicator = group_of(operation.correlation);
    const std::string group = group_name(operation);
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

/// With times of the launcher's clock.
host::FlightRecord on_own_clock(const ProcessFlight& process) {
  host::FlightRecord record = host::parse_flight(process.ring).value_or(host::FlightRecord{});
  for (host::FlightOperation& operation : record.operations) {
    operation.begin_ns += process.later_ns;
    if (operation.end_ns != 0) operation.end_ns += process.later_ns;
  }
  return record;
}

std::string stopped_in_words(const std::set<int>& stopped) {
  std::string text;
  for (const int rank : stopped) text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
  return fmt::format("rank{} {} {} stopped (SIGSTOP or a debugger)", stopped.size() == 1 ? "" : "s", text, stopped.size() == 1 ? "is" : "are");
}

std::string where(const RankFlight& flight, std::int64_t now_ns) {
  const auto& operations = flight.record.operations;
  if (!flight.is_known) return "its last collectives are not known: it has not answered";
  if (operations.empty()) return "in no collective yet";
  const auto name = [&](const host::FlightOperation& operation) {
    return fmt::format("{} #{} of group {}", operation.name, number_of(operation.correlation), group_name(operation));
  };
  const auto inside = std::find_if(operations.begin(), operations.end(), [](const auto& operation) { return operation.end_ns == 0; });
  if (inside != operations.end())
    return fmt::format("in {} for {}", name(*inside), describe_time(std::chrono::nanoseconds(now_ns - inside->begin_ns)));
  return fmt::format("in no collective for {}; the last was {}",
                     describe_time(std::chrono::nanoseconds(now_ns - operations.back().end_ns)), name(operations.back()));
}

}  // namespace

std::vector<RankFlight> flights_of(const std::vector<ProcessFlight>& processes, int world_size, bool per_node) {
  std::vector<std::pair<const ProcessFlight*, host::FlightRecord>> read;
  int ranks = 0;
  for (const ProcessFlight& process : processes) {
    read.emplace_back(&process, on_own_clock(process));
    if (const auto& place = read.back().second.place) ranks = std::max(ranks, place->ranks);
  }
  const bool by_place = per_node || ranks > world_size;
  std::vector<RankFlight> flights;
  const int count = by_place && ranks > 0 ? ranks : world_size;
  for (int rank = 0; rank < count; ++rank) flights.push_back({rank, {}, false, true, false});
  for (auto& [process, record] : read) {
    if (by_place && (!record.place || record.place->ranks != ranks)) continue;
    RankFlight& flight = flights[static_cast<std::size_t>(by_place ? record.place->rank : process->started_rank)];
    flight.is_stopped |= process->is_stopped;
    // That of a process that lives, else the one with the newest collective.
    const bool is_first = newest_ns(flight.record) == 0;
    const bool is_better = process->is_over == flight.is_over ? newest_ns(record) > newest_ns(flight.record) : flight.is_over;
    if (!is_first && !is_better) continue;
    flight.record = std::move(record);
    flight.is_over = process->is_over;
  }
  return flights;
}

bool stands_still(const std::vector<RankFlight>& flights, std::chrono::nanoseconds limit, std::int64_t now_ns) {
  return is_quiet(flights, limit, now_ns) && std::any_of(flights.begin(), flights.end(), [](const RankFlight& flight) {
           const auto& operations = flight.record.operations;
           return std::any_of(operations.begin(), operations.end(), [](const auto& each) { return each.end_ns == 0; });
         });
}

bool stands_still_for_certain(const std::vector<RankFlight>& flights, std::chrono::nanoseconds limit, std::int64_t now_ns) {
  return is_quiet(flights, limit, now_ns) && std::any_of(flights.begin(), flights.end(), [](const RankFlight& flight) {
           const auto& operations = flight.record.operations;
           return !flight.is_over && std::any_of(operations.begin(), operations.end(), [](const auto& each) { return each.is_inside(); });
         });
}

std::optional<std::string> who_is_awaited(const std::vector<RankFlight>& flights, std::int64_t now_ns) {
  std::set<int> stopped;
  std::int64_t newest = 0;
  std::vector<analyzer::FlightDump> dumps;
  for (const RankFlight& flight : flights) {
    newest = std::max(newest, newest_ns(flight.record));
    if (flight.is_stopped) stopped.insert(flight.rank);
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

std::string why_they_stand(const std::vector<RankFlight>& flights, std::int64_t now_ns) {
  if (auto awaited = who_is_awaited(flights, now_ns)) return *std::move(awaited);
  std::int64_t newest = 0;
  std::vector<analyzer::FlightDump> dumps;
  for (const RankFlight& flight : flights) {
    newest = std::max(newest, newest_ns(flight.record));
    dumps.push_back(dump_of(flight, static_cast<int>(flights.size())));
  }
  const std::string since = describe_time(std::chrono::nanoseconds(now_ns - newest));
  const analyzer::Hang hang = analyzer::find_hang(dumps);
  if (hang.entered_by_all.empty()) return fmt::format("no collective has begun or ended for {}; the recorders do not show which rank is awaited", since);
  return fmt::format("all ranks of the group have entered {}, but it has not ended for {}: the network between the ranks may not deliver, or a kernel hangs",
                     hang.entered_by_all.front(), since);
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
