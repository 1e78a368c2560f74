// Which rank is missing from which collective: printed on request, printed once when ranks wait for some seconds, and kept with
// a run that hung.
#include <fmt/format.h>

#include "core/clock.h"
#include "core/run_case/program_case.h"
#include "harness/launch/supervisor/flights.h"
#include "harness/launch/supervisor/supervisor.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTellAfter = 5s;
constexpr std::size_t kMostTold = 64;

}  // namespace

std::string Supervisor::where_ranks_are_now(const std::vector<RankView>& views, SteadyTime now) const {
  const std::vector<RankFlight> flights = read_flights(options_.run_directory, run_case_.world_size());
  const std::int64_t at_ns = now_ns();
  std::string text = where_ranks_are(views, now);
  if (is_program(run_case_)) {
    const auto awaited = stands_still(flights, 2s, at_ns)
                             ? who_is_awaited(flights, at_ns, stopped_ranks(options_.run_directory, run_case_.world_size()))
                             : std::nullopt;
    text = awaited.value_or("no hang that is seen: within the last 2 s a rank entered or left a collective, or none is in one");
  }
  if (processes_.remote()) return text;  // their files are elsewhere
  const std::vector<std::string> lines = flights_in_words(flights, at_ns);
  if (!is_program(run_case_)) text += "\nlast collectives";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostTold); ++i) text += "\n  " + lines[i];
  return text;
}

/// Of a program's processes only their files are known.
std::optional<std::string> Supervisor::who_hangs(const std::vector<RankView>& views, SteadyTime now) const {
  if (!is_program(run_case_)) return who_is_awaited(views, std::min(kTellAfter, options_.watchdog), now);
  if (processes_.remote() || is_program_per_node(run_case_)) return std::nullopt;
  const auto flights = read_flights(options_.run_directory, run_case_.world_size());
  if (!stands_still(flights, kTellAfter, now_ns())) return std::nullopt;
  return who_is_awaited(flights, now_ns(), stopped_ranks(options_.run_directory, run_case_.world_size()));
}

void Supervisor::tell_of_hang(const std::vector<RankView>& views, SteadyTime now) {
  if (phase_ != Phase::kTraining || now < next_hang_look_) return;
  next_hang_look_ = now + 1s;
  const std::optional<std::string> who = who_hangs(views, now);
  if (who && !told_of_hang_) observer_.on_hang(*who);
  told_of_hang_ = who.has_value();
}

void Supervisor::keep_flights() {
  if (processes_.remote()) return;
  const std::vector<std::string> lines = flights_in_words(read_flights(options_.run_directory, run_case_.world_size()), now_ns());
  constexpr std::size_t kMostKept = 16;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostKept); ++i)
    outcome_.notes.push_back("when it hung, " + lines[i]);
}

}  // namespace ddbench::launch
