#include "harness/launch/machine/process_flights.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/text/number.h"
#include "probes/recorder/flight_ring.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRankPrefix = "rank";

/// 3 of "rank3.flight", 3 and 4711 of "rank3.4711.flight".
std::optional<ProcessFlight> named_by(const std::string& name) {
  if (!name.starts_with(kRankPrefix) || !name.ends_with(host::kFlightSuffix)) return std::nullopt;
  const auto rank = leading_number<int>(std::string_view(name).substr(kRankPrefix.size()));
  if (!rank || rank->value < 0 || !rank->rest.starts_with(".")) return std::nullopt;
  const auto pid = leading_number<std::int64_t>(rank->rest.substr(1));
  ProcessFlight flight;
  flight.started_rank = rank->value;
  flight.pid = pid ? pid->value : 0;
  return flight;
}

bool is_stopped(const fs::path& process) {
  std::string status;
  std::getline(std::ifstream(process / "stat"), status);
  const std::size_t name_end = status.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= status.size()) return false;
  return status[name_end + 2] == 'T' || status[name_end + 2] == 't';
}

/// The rank of a program's process, from its environment.
std::optional<int> rank_of_process(const fs::path& process, const std::string& spool_prefix) {
  std::ifstream file(process / "environ", std::ios::binary);
  const std::string environment((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string variable = "DDBENCH_SPOOL=" + spool_prefix;
  const std::size_t at = environment.find(variable);
  if (at == std::string::npos || (at > 0 && environment[at - 1] != 0)) return std::nullopt;
  const auto number = leading_number<int>(std::string_view(environment).substr(at + variable.size()));
  return number ? std::optional(number->value) : std::nullopt;
}

/// In its own pid namespace: the last of "NSpid:\t4711\t17".
std::int64_t own_pid(const fs::path& process) {
  std::ifstream file(process / "status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("NSpid:")) continue;
    const auto pid = leading_number<std::int64_t>(std::string_view(line).substr(line.find_last_of("\t ") + 1));
    return pid ? pid->value : 0;
  }
  return 0;
}

}  // namespace

std::vector<ProcessFlight> read_process_flights(const fs::path& run_directory, int world_size) {
  std::vector<ProcessFlight> flights;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_directory, error)) {
    std::optional<ProcessFlight> flight = named_by(entry.path().filename().string());
    if (!flight || flight->started_rank >= world_size) continue;
    flight->ring = host::flight_bytes(entry.path());
    flight->is_over = host::has_writer_ended(entry.path());
    if (!flight->ring.empty()) flights.push_back(*std::move(flight));
  }
  return flights;
}

void find_stopped_processes(const fs::path& run_directory, int world_size, std::vector<ProcessFlight>& flights) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string().front())) == 0 || !is_stopped(entry.path())) continue;
    const auto rank = rank_of_process(entry.path(), (run_directory / kRankPrefix).string());
    if (!rank || *rank < 0 || *rank >= world_size) continue;
    const std::int64_t pid = own_pid(entry.path());
    const auto known = std::find_if(flights.begin(), flights.end(), [&](const ProcessFlight& flight) {
      return flight.started_rank == *rank && flight.pid == pid;
    });
    if (known != flights.end()) {
      known->is_stopped = true;
    } else {
      flights.push_back({*rank, pid, true, {}, 0, false});
    }
  }
}

}  // namespace ddbench::launch
