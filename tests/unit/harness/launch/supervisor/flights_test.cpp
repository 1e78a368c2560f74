// Flight recorders as ranks leave them in a run's folder, and who is missing where.
#include "harness/launch/supervisor/flights.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <set>

#include "core/span.h"
#include "harness/launch/supervisor/flight_answers.h"
#include "harness/launch/worker/own_flights.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint16_t kGroup = 0x1234;

std::vector<RankFlight> read_flights(const std::filesystem::path& folder, int ranks, bool per_node = false) {
  return flights_of(read_process_flights(folder, ranks), ranks, per_node);
}

class Flights : public testing::Test {
 protected:
  /// All collectives up to `ended`, and one more where `inside`.
  void write(int rank, std::uint64_t ended, bool inside, const char* file = nullptr, std::uint16_t group = kGroup, std::uint32_t size = 3) {
    const std::string name = file != nullptr ? file : "rank" + std::to_string(rank) + ".77.flight";
    host::FlightRing* const ring = host::map_flight_ring((folder_.path() / name).c_str());
    ASSERT_NE(ring, nullptr);
    ring->add_group(group, size);
    for (std::uint64_t sequence = 1; sequence <= ended; ++sequence) {
      const auto place = ring->enter("all_reduce", collective_key(group, sequence), static_cast<std::int64_t>(sequence) * 1000);
      ring->leave(place, static_cast<std::int64_t>(sequence) * 1000 + 500);
    }
    if (inside) ring->enter("all_reduce", collective_key(group, ended + 1), kSecond);
  }
  std::optional<std::string> awaited(const std::set<int>& stopped = {}) {
    auto flights = read_flights(folder_.path(), 3);
    for (RankFlight& flight : flights) flight.is_stopped = stopped.contains(flight.rank);
    return who_is_awaited(flights, 6 * kSecond);
  }
  /// A process that says which rank it is.
  void say(const char* file, WorldPlace place, std::uint64_t ended, bool inside, const char* function = "all_reduce") {
    host::FlightRing* const ring = host::map_flight_ring((folder_.path() / file).c_str());
    ASSERT_NE(ring, nullptr);
    ring->set_place({0, 2});
    ring->set_place(place);
    ring->set_place({0, 2});
    ring->add_group(kGroup, static_cast<std::uint32_t>(place.ranks));
    for (std::uint64_t sequence = 1; sequence <= ended; ++sequence)
      ring->leave(ring->enter(function, collective_key(kGroup, sequence), 1000), 1500);
    if (inside) ring->enter(function, collective_key(kGroup, ended + 1), kSecond);
  }
  test::TemporaryDirectory folder_;
};

TEST_F(Flights, TheRankThatDidNotComeIsNamedWithItsCollective) {
  write(0, 40, true);
  write(1, 40, false);
  write(2, 40, true);
  EXPECT_TRUE(stands_still(read_flights(folder_.path(), 3), 5s, 6 * kSecond));
  EXPECT_FALSE(stands_still(read_flights(folder_.path(), 3), 5s, 5 * kSecond)) << "4 s ago one was entered";
  EXPECT_EQ(awaited().value_or(""),
            "rank 1 did not come to all_reduce #41 of group 1234 (all ranks), in which rank 0 waits; no collective has begun or ended "
            "for 5.0 s");
  EXPECT_NE(awaited({{1}}).value_or("").find("; rank 1 is stopped (SIGSTOP or a debugger); "), std::string::npos);
  const auto lines = flights_in_words(read_flights(folder_.path(), 3), 6 * kSecond);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "rank 0: in all_reduce #41 of group 1234 for 5.0 s; before: all_reduce #40 (500 ns), all_reduce #39 (500 ns), "
                      "all_reduce #38 (500 ns)");
  EXPECT_TRUE(lines[1].starts_with("rank 1: in no collective for 6.0 s; the last was all_reduce #40 of group 1234")) << lines[1];
}

TEST_F(Flights, ARankWithoutAnyCollectiveIsAwaitedToo) {
  write(0, 0, true);
  write(2, 0, true);
  EXPECT_TRUE(awaited().value_or("").starts_with("rank 1 did not come to all_reduce #1 of group 1234 (all ranks)")) << awaited().value_or("");
}

TEST_F(Flights, WhereAllHaveComeOnlyAStoppedOneIsNamed) {
  for (const int rank : {0, 1, 2}) write(rank, 7, true);
  EXPECT_FALSE(awaited());
  EXPECT_TRUE(awaited({{2}}).value_or("").starts_with("rank 2 is stopped (SIGSTOP or a debugger), in all_reduce #8 of group 1234 (all ranks)"));
}

TEST_F(Flights, ARunThatIsEndedHasAReasonInAnyCase) {
  for (const int rank : {0, 1, 2}) write(rank, 7, true);
  EXPECT_EQ(why_they_stand(read_flights(folder_.path(), 3), 6 * kSecond),
            "all ranks of the group have entered all_reduce #8 of group 1234 (all ranks), ranks 0-2, but it has not ended for 5.0 s: the "
            "network between the ranks may not deliver, or a kernel hangs");
  write(1, 7, false);
  EXPECT_TRUE(why_they_stand(read_flights(folder_.path(), 3), 6 * kSecond).starts_with("rank 1 did not come to all_reduce #8"));
  EXPECT_TRUE(why_they_stand({}, 6 * kSecond).ends_with("the recorders do not show which rank is awaited"));
}

TEST_F(Flights, RanksThatComputeDoNotHang) {
  for (const int rank : {0, 1, 2}) write(rank, 7, false);
  EXPECT_FALSE(stands_still(read_flights(folder_.path(), 3), 5s, 60 * kSecond));
  EXPECT_FALSE(stands_still({}, 5s, 60 * kSecond));
}

TEST_F(Flights, OfSeveralProcessesTheOneThatCommunicatesCounts) {
  write(0, 3, true);
  write(0, 0, false, "rank0.78.flight");
  write(1, 4, false);
  const auto flights = read_flights(folder_.path(), 3);
  EXPECT_EQ(flights[0].record.operations.size(), 4U);
  EXPECT_EQ(flights[2].record.operations.size(), 0U);
}

TEST_F(Flights, FilesThatAreNoneOfTheseAreLeftAlone) {
  std::ofstream(folder_.path() / "rank0.flight") << "short";
  std::ofstream(folder_.path() / "rank1.flight") << std::string(5000, 'x');
  std::ofstream(folder_.path() / "rankx.flight") << "";
  std::ofstream(folder_.path() / "rank99.flight") << "";
  for (const RankFlight& flight : read_flights(folder_.path(), 3)) EXPECT_TRUE(flight.record.operations.empty());
  EXPECT_EQ(read_flights(folder_.path() / "missing", 2).size(), 2U);
  std::vector<ProcessFlight> flights;
  find_stopped_processes(folder_.path(), 3, flights);
  EXPECT_TRUE(flights.empty());
}

TEST_F(Flights, RanksAndTimesThatCannotBeAreLeftAlone) {
  write(0, 40, true);
  write(0, 99, true, "rank-1.flight");
  write(0, 99, true, "rank-1.77.flight");
  host::FlightRing* const ring = host::map_flight_ring((folder_.path() / "rank1.flight").c_str());
  ASSERT_NE(ring, nullptr);
  ring->leave(ring->enter("all_reduce", collective_key(kGroup, 1), 1000), std::numeric_limits<std::int64_t>::min());
  ring->enter("all_reduce", collective_key(kGroup, 2), std::numeric_limits<std::int64_t>::max());
  std::vector<ProcessFlight> processes = read_process_flights(folder_.path(), 3);
  ASSERT_EQ(processes.size(), 2U);
  for (ProcessFlight& process : processes) process.later_ns = kSecond;
  const std::vector<RankFlight> flights = flights_of(processes, 3, false);
  EXPECT_EQ(flights[0].record.operations.back().begin_ns, 2 * kSecond);
  EXPECT_TRUE(flights[1].record.operations.empty());
}

TEST_F(Flights, ProcessesOfAProgramThatStartsItsRanksAreWhoTheySayTheyAre) {
  say("rank0.7.flight", {0, 4}, 8, true);
  say("rank0.8.flight", {1, 4}, 8, true);
  say("rank2.7.flight", {2, 4}, 8, true);
  say("rank2.9.flight", {3, 4}, 7, false);
  std::ofstream(folder_.path() / "rank2.10.flight") << "";
  for (const auto& flights : {read_flights(folder_.path(), 4, true), read_flights(folder_.path(), 3)}) {  // once a node; or by itself
    ASSERT_EQ(flights.size(), 4U);
    EXPECT_TRUE(who_is_awaited(flights, 6 * kSecond).value_or("").starts_with("rank 3 did not come to all_reduce #9 of group 1234 (all ranks)"));
  }
  EXPECT_EQ(read_flights(folder_.path(), 6)[3].record.operations.size(), 0U) << "of ranks that ddbench starts its numbers count";
}

TEST_F(Flights, NumbersOfNcclCountTheCallsOfOneFunction) {
  say("rank0.7.flight", {0, 2}, 3, true, "nccl:all_reduce");
  say("rank1.7.flight", {1, 2}, 9, false, "nccl:broadcast");
  const auto flights = read_flights(folder_.path(), 2);
  EXPECT_TRUE(who_is_awaited(flights, 6 * kSecond).value_or("").starts_with("rank 1 did not come to nccl:all_reduce #4 of group 1234/all_reduce "
                                                                            "(all ranks)"));
}

TEST_F(Flights, RanksElsewhereShowOfThemselvesOnTheLaunchersClock) {
  write(0, 40, true);
  write(1, 40, false, "rank1.78.flight");
  FlightAnswers asked;
  EXPECT_FALSE(asked.asked());
  const FlightRequest question = asked.ask();
  std::vector<Flight> reported = own_flights(folder_.path(), question.request);
  ASSERT_EQ(reported.size(), 2U);
  for (Flight& flight : reported) {
    flight.read_at_ns = 6 * kSecond;
    EXPECT_FALSE(asked.has_answered(flight.pid == 77 ? 0 : 1));
    flight.processes = 1;  // each a rank of its own
    asked.take(flight.pid == 77 ? 0 : 1, flight, 106 * kSecond);
  }
  EXPECT_TRUE(asked.has_answered(0) && asked.has_answered(1) && !asked.has_answered(2));
  const auto flights = flights_of(asked.all(), 2, false);
  EXPECT_TRUE(stands_still(flights, 5s, 106 * kSecond) && !stands_still(flights, 6s, 106 * kSecond));
  EXPECT_TRUE(who_is_awaited(flights, 106 * kSecond).value_or("").starts_with("rank 1 did not come to all_reduce #41"));
  asked.ask();
  asked.take(0, reported[0], 200 * kSecond);
  EXPECT_FALSE(asked.has_answered(0)) << "to the question before";
  EXPECT_EQ(asked.all().size(), 2U);
  const std::vector<Flight> none = own_flights({}, 3);
  ASSERT_EQ(none.size(), 1U);
  asked.take(0, {2, 0, 0, false, false, 0, {}}, 1);
  EXPECT_TRUE(asked.has_answered(0) && none[0].ring.empty());
  for (int i = 0; i < 9; ++i) asked.take(1, {2, 2, 5, true, false, 0, {'x'}}, 1);
  EXPECT_EQ(asked.all().size(), 2U) << "no more than it announced";
  EXPECT_EQ(flights_of(asked.all(), 2, false)[1].record.operations.size(), 0U);
}

TEST_F(Flights, OnlyCollectivesWhoseEndWouldBeReportedAreAReasonToEndARun) {
  write(0, 40, false, "rank0.flight");
  host::FlightRing* const ring = host::map_flight_ring((folder_.path() / "rank1.flight").c_str());
  ASSERT_NE(ring, nullptr);
  const auto place = ring->enter("nccl:all_reduce", collective_key(kGroup, 41), kSecond);
  const auto flights = [&](bool is_over) {
    auto read = read_flights(folder_.path(), 2);
    for (RankFlight& flight : read) flight.is_over = is_over;
    return read;
  };
  EXPECT_TRUE(stands_still_for_certain(flights(false), 5s, 6 * kSecond));
  EXPECT_FALSE(stands_still_for_certain(flights(false), 6s, 6 * kSecond));
  EXPECT_FALSE(stands_still_for_certain(flights(true), 5s, 6 * kSecond)) << "of a process that has ended";
  ring->mark_end_unknown(place);
  EXPECT_FALSE(stands_still_for_certain(flights(false), 5s, 6 * kSecond)) << "it may have ended long ago";
  EXPECT_TRUE(stands_still(flights(false), 5s, 6 * kSecond)) << "but it may stand still";
  for (std::uint64_t sequence = 42; sequence < 42 + host::FlightRing::kEntries; ++sequence)
    ring->enter("nccl:all_reduce", collective_key(kGroup, sequence), kSecond);
  EXPECT_TRUE(stands_still_for_certain(flights(false), 5s, 6 * kSecond)) << "the mark is of one collective";
}

TEST_F(Flights, AProcessThatHasEndedIsKnownByItsLock) {
  const auto file = folder_.path() / "rank0.5.flight";
  EXPECT_FALSE(host::has_writer_ended(file)) << "there is none";
  int ready[2], end[2];
  ASSERT_EQ(::pipe(ready) | ::pipe(end), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  char byte = 0;
  if (child == 0) {
    host::FlightRing* const ring = host::map_flight_ring(file.c_str());
    if (ring != nullptr) ring->enter("all_reduce", collective_key(kGroup, 1), kSecond);
    ::close(end[1]);
    const bool has_ended = ::write(ready[1], &byte, 1) == 1 && ::read(end[0], &byte, 1) >= 0;
    ::_exit(has_ended ? 0 : 1);
  }
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(host::has_writer_ended(file));
  EXPECT_FALSE(read_process_flights(folder_.path(), 1).at(0).is_over);
  for (const int fd : {end[0], end[1], ready[0], ready[1]}) ::close(fd);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(host::has_writer_ended(file));
  EXPECT_TRUE(read_process_flights(folder_.path(), 1).at(0).is_over);
}

TEST_F(Flights, WhatAProgramIsInIsReportedWithHeartbeats) {
  EXPECT_TRUE(collectives_of_program(folder_.path()).function.empty());
  write(0, 3, true);
  write(0, 5, false, "rank0.78.flight");
  const CollectiveState state = collectives_of_program(folder_.path());
  EXPECT_TRUE(state.inside && state.function == "all_reduce" && state.for_ns > 0);
  EXPECT_EQ(state.sequence, 9U);
}

TEST_F(Flights, OnlyTheLastCollectivesAreKeptAndLateEndsTouchNoOther) {
  host::FlightRing* const ring = host::map_flight_ring((folder_.path() / "rank0.flight").c_str());
  ASSERT_NE(ring, nullptr);
  const auto first = ring->enter(std::string(100, 'n'), collective_key(1, 1), 10);
  for (std::uint64_t sequence = 2; sequence <= 2 * host::FlightRing::kEntries; ++sequence) ring->enter("barrier", collective_key(1, sequence), 20);
  ring->leave(first, 30);
  const auto record = host::parse_flight(host::flight_bytes(folder_.path() / "rank0.flight"));
  ASSERT_TRUE(record);
  ASSERT_EQ(record->operations.size(), host::FlightRing::kEntries);
  for (const host::FlightOperation& operation : record->operations) EXPECT_EQ(operation.end_ns, 0);
  for (std::uint16_t group = 1; group < 100; ++group) ring->add_group(group, 2);
  ring->add_group(1, 2);
  EXPECT_EQ(host::parse_flight(host::flight_bytes(folder_.path() / "rank0.flight"))->sizes.size(), host::FlightRing::kGroups);
}

}  // namespace
}  // namespace ddbench::launch
