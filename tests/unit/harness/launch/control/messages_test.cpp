#include "harness/launch/control/key_value_bytes.h"
#include "harness/launch/control/messages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/span.h"
#include "expect_error.h"
#include "harness/launch/control/packed_bytes.h"

namespace ddbench::launch {
namespace {

template <typename M>
M round_trip(const M& message) {
  return std::get<M>(decode(encode(message)));
}

TEST(Messages, KeepEveryField) {
  const Hello hello = round_trip(Hello{1, 3, 4711, "host", "boot", 1, 4, "0,2", "10.0.0.1"});
  EXPECT_EQ(hello.rank, 3);
  EXPECT_EQ(hello.pid, 4711);
  EXPECT_EQ(hello.host, "host");
  EXPECT_EQ(hello.boot_id, "boot");

  const Ready ready = round_trip(Ready{"tcp eth0 10.77.0.1", "3", {11, -12, 13}});
  EXPECT_EQ(ready.transport, "tcp eth0 10.77.0.1");
  EXPECT_EQ(ready.cores, "3");
  EXPECT_EQ(ready.clock.at_ns, 11);
  EXPECT_EQ(ready.clock.offset_ns, -12);
  EXPECT_EQ(ready.clock.uncertainty_ns, 13);

  const Heartbeat heartbeat =
      round_trip(Heartbeat{18, 2.25, {"all_reduce", 41, true, 5'000'000'000}, 1 << 30, true, 77, ddp::LongWork::kWriteCheckpoint, 9});
  EXPECT_EQ(heartbeat.steps_completed, 18u);
  EXPECT_EQ(heartbeat.loss, 2.25);
  EXPECT_EQ(heartbeat.collective.function, "all_reduce");
  EXPECT_EQ(heartbeat.collective.sequence, 41u);
  EXPECT_TRUE(heartbeat.collective.inside);
  EXPECT_EQ(heartbeat.collective.for_ns, 5'000'000'000);
  EXPECT_EQ(heartbeat.peak_memory_bytes, 1 << 30);
  EXPECT_TRUE(heartbeat.sigterm_pending);
  EXPECT_EQ(heartbeat.collectives_ns, 77);
  EXPECT_EQ(heartbeat.long_work, ddp::LongWork::kWriteCheckpoint);
  EXPECT_EQ(heartbeat.pieces, 9u);

  const Result result = round_trip(Result{2.5, 0.5, "abc", 7, 8, 3, 40, {1, 2, 3}, "run a-b", 17, true});
  EXPECT_EQ(result.shared_with, "run a-b");
  EXPECT_EQ(result.steps_done, 17u);
  EXPECT_TRUE(result.reached_target);
  EXPECT_EQ(result.loss_first, 2.5);
  EXPECT_EQ(result.loss_last, 0.5);
  EXPECT_EQ(result.parameter_hash, "abc");
  EXPECT_EQ(result.dropped_spans, 7u);
  EXPECT_EQ(result.waits, 3u);
  EXPECT_EQ(result.wait_ns, 40);
  EXPECT_EQ(result.clock.uncertainty_ns, 3);

  const Failure failure = round_trip(Failure{ErrorCode::kEnvironment, "disk full", 28, "/x", true, 9, 10});
  EXPECT_EQ(failure.code, ErrorCode::kEnvironment);
  EXPECT_EQ(failure.message, "disk full");
  EXPECT_EQ(failure.native_code, 28);
  EXPECT_EQ(failure.where, "/x");
  EXPECT_TRUE(failure.communication);
  EXPECT_EQ(failure.dropped_spans, 9u);

  EXPECT_EQ(round_trip(Stop{"why"}).reason, "why");
  EXPECT_EQ(round_trip(Stop{"why"}).exit_code, 1);
  EXPECT_EQ(round_trip(Stop{"why", 130}).exit_code, 130);
  EXPECT_EQ(round_trip(Holding{2, 7}).round, 2u);
  EXPECT_EQ(round_trip(Holding{2, 7}).step, 7u);
  EXPECT_EQ(round_trip(LastStep{8, true}).step, 8u);
  EXPECT_TRUE(round_trip(LastStep{8, true}).checkpoint);
  EXPECT_EQ(round_trip(Hold{3, 1'000'000}).round, 3u);
  EXPECT_EQ(round_trip(Hold{3, 1'000'000}).lead_ns, 1'000'000);
  const StepTimes times = round_trip(StepTimes{90, {{4, 80, 1, -0.25}, {2, 10, 0, 0}}});
  EXPECT_EQ(times.measured_ns, 90);
  ASSERT_EQ(times.windows.size(), 2u);
  EXPECT_EQ(times.windows[0].steps, 4u);
  EXPECT_EQ(times.windows[0].time_ns, 80);
  EXPECT_EQ(times.windows[0].pairs, 1u);
  EXPECT_EQ(times.windows[0].log_ratio, -0.25);
  const Flight flight = round_trip(Flight{4, 2, 17, true, true, 99, {'\0', '\x7f', 'a'}});
  EXPECT_EQ(flight.request, 4u);
  EXPECT_EQ(flight.processes, 2u);
  EXPECT_EQ(flight.pid, 17);
  EXPECT_TRUE(flight.is_stopped);
  EXPECT_EQ(flight.read_at_ns, 99);
  EXPECT_EQ(flight.ring, (collective::Bytes{'\0', '\x7f', 'a'}));
  EXPECT_EQ(round_trip(FlightRequest{5}).request, 5u);
  const RankOwnTime own = round_trip(RankOwnTime{6, -1, 7, 8});
  EXPECT_EQ(own.steps, 6u);
  EXPECT_EQ(own.compute_ns, -1);
  EXPECT_EQ(own.data_ns, 7);
  EXPECT_EQ(own.cpu_wait_ns, 8);
  EXPECT_EQ(round_trip(Ping{5}).id, 5u);
  EXPECT_EQ(round_trip(ClockRead{{7, -8, 9}}).clock.offset_ns, -8);
  EXPECT_EQ(round_trip(Pong{5, -6}).reference_ns, -6);
  EXPECT_EQ(round_trip(Finish{}).exit_code, 0);
  EXPECT_EQ(round_trip(Finish{130}).exit_code, 130);
  EXPECT_EQ(round_trip(Turn{7}).number, 7);
  EXPECT_EQ(round_trip(TurnsEnd{130}).exit_code, 130);
}

TEST(Messages, AnAssignmentCarriesTheWholeCase) {
  Assignment assignment;
  assignment.run_case.work = ReferenceWorkload{"mlp"};
  std::get<ReferenceWorkload>(assignment.run_case.work).options = {{"hidden", "512,512"}};
  assignment.run_case.nodes = 4;
  assignment.run_case.link = "1gbit";
  assignment.run_case.seed = std::numeric_limits<std::uint64_t>::max();
  assignment.rank = 5;
  assignment.core_slot = -1;
  assignment.spool = "/tmp/r\"5\".spool";
  assignment.reduce_spans = true;
  assignment.communicator_id = 65535;
  const Assignment read = round_trip(assignment);
  EXPECT_EQ(to_json(read.run_case), to_json(assignment.run_case));
  EXPECT_EQ(read.rank, 5);
  EXPECT_EQ(read.core_slot, -1);
  EXPECT_EQ(read.spool, assignment.spool);
  EXPECT_TRUE(read.reduce_spans);
  EXPECT_EQ(read.communicator_id, 65535);
}

TEST(Messages, AnInventoryIsAnyNamesAndTexts) {
  const Inventory inventory{{{"cpu.model", "a \"b\""}, {"cpu.cores", "unknown: no /proc"}, {"", ""}}};
  EXPECT_EQ(round_trip(inventory).facts, inventory.facts);
  EXPECT_THROW(decode(R"({"type":"inventory","facts":{"cpu.cores":2}})"), Error);
  EXPECT_THROW(decode(R"({"type":"inventory","facts":[]})"), Error);
}

TEST(Messages, WhatAMachineCountedIsFactsAndNotes) {
  const Counted counted{{{"nic.eth0.sent_bytes", "12"}}, {"GPU 0 was \"throttled\"", ""}};
  const Counted read = round_trip(counted);
  EXPECT_EQ(read.facts, counted.facts);
  EXPECT_EQ(read.notes, counted.notes);
  EXPECT_THROW(decode(R"({"type":"counted","facts":{},"notes":{"a":"b"}})"), Error);
  EXPECT_THROW(decode(R"({"type":"counted","facts":{},"notes":[1]})"), Error);
}

TEST(Messages, BytesOfAKeyAreAnyBytes) {
  KvSet entry{"rank/0", {}};
  for (int byte = 0; byte < 256; ++byte) entry.value.push_back(static_cast<char>(byte));
  EXPECT_EQ(round_trip(entry).value, entry.value);
  EXPECT_TRUE(round_trip(KvValue{1, {}}).value.empty());
  const KvParts parts{~std::uint64_t{0}, {entry.value, {}, {'x'}}, "why"};
  EXPECT_EQ(parts_of(round_trip(parts)), parts.parts);
  EXPECT_EQ(round_trip(parts).error, "why");
  EXPECT_EQ(round_trip(parts).id, parts.id);
}

TEST(Messages, KeysThatAreCutShortAreRefused) {
  const std::string whole = encode(KvParts{1, {{'a', 'b'}, {'c'}}});
  const auto parts_in = [](const std::string& payload) { return parts_of(std::get<KvParts>(decode(payload))); };
  for (std::size_t length = 1; length < whole.size(); ++length) EXPECT_THROW(parts_in(whole.substr(0, length)), Error) << length;
  EXPECT_THROW(parts_in(whole + "x"), Error);
  EXPECT_THROW(decode(std::string("\x01\x05\x00key", 6)), Error);
  EXPECT_THROW(parts_in(std::string("\x03") + std::string(13, '\0') + std::string(4, '\xff')), Error) << "4 billion parts";
  const std::string large = encode(KvParts{1, {collective::Bytes(std::size_t{40} << 20)}});
  EXPECT_LT(large.size(), 100'000U);
  EXPECT_NO_THROW(decode(large)) << "a launcher that gets it unpacks nothing";
  EXPECT_THROW(parts_in(large), Error);
  EXPECT_THROW(decode(R"({"type":"kv_set","key":"a","value":"00"})"), Error) << "these are no JSON any more";
}

TEST(Messages, APieceOfAFileIsAnyBytes) {
  FileChunk chunk{"rank3.spool", {}};
  for (int byte = 0; byte < 256; ++byte) chunk.bytes.push_back(static_cast<char>(byte));
  const FileChunk read = round_trip(chunk);
  EXPECT_EQ(read.name, chunk.name);
  EXPECT_EQ(read.bytes, chunk.bytes);
  EXPECT_EQ(read.packed_bytes, 256 + 1u);
  EXPECT_LT(encode(chunk).size(), 256 + 16u);
  for (const std::string& text : {std::string("\0", 1), std::string("\0\x05"
                                                                    "abc",
                                                                    5)}) {
    EXPECT_THROW(decode(text), Error);
  }
}

TEST(Messages, APieceOfASpoolTravelsInAFractionOfItsBytes) {
  std::vector<Span> spans(FileChunk::kMostBytes / sizeof(Span));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].begin_ns = 1'000'000'000 + static_cast<std::int64_t>(i * 51'237 + i * i % 977);
    spans[i].end_ns = spans[i].begin_ns + 40'000 + static_cast<std::int64_t>(i * 7919 % 3001);
    spans[i].step = static_cast<std::uint32_t>(i / 20);
    spans[i].name_id = static_cast<std::uint32_t>(i % 20);
  }
  FileChunk chunk{"rank0.spool", collective::Bytes(spans.size() * sizeof(Span))};
  std::memcpy(chunk.bytes.data(), spans.data(), chunk.bytes.size());
  EXPECT_LT(4 * encode(chunk).size(), chunk.bytes.size());
  EXPECT_EQ(round_trip(chunk).bytes, chunk.bytes);
}

TEST(Messages, PackedBytesThatNobodyPackedAreRefused) {
  const std::string packed = pack(collective::Bytes(1000, 'a'));
  EXPECT_LT(packed.size(), 100U);
  EXPECT_EQ(unpack(packed, 1000), collective::Bytes(1000, 'a'));
  EXPECT_THROW(unpack(packed, 999), Error) << "more than is allowed";
  EXPECT_THROW(unpack(packed.substr(0, packed.size() - 1), 1000), Error);
  EXPECT_THROW(unpack("", 1000), Error);
  EXPECT_THROW(unpack("\2abc", 1000), Error);
  EXPECT_THROW(unpack("\1abc", 1000), Error);
  EXPECT_THROW(unpack(std::string(1001, '\0'), 999), Error);
  EXPECT_EQ(unpack(pack({}), 0), collective::Bytes{});
}

TEST(Messages, ADivergedLossArrives) {
  EXPECT_TRUE(std::isnan(round_trip(Heartbeat{1, std::nan(""), {}, 0}).loss));
  EXPECT_EQ(round_trip(Heartbeat{1, std::numeric_limits<double>::infinity(), {}, 0}).loss,
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_trip(Heartbeat{1, -std::numeric_limits<double>::infinity(), {}, 0}).loss,
            -std::numeric_limits<double>::infinity());
}

TEST(Messages, TextThatIsNoUtf8DoesNotThrow) {
  EXPECT_NO_THROW(round_trip(Stop{"bad \xff\xfe bytes"}));
}

TEST(Messages, WhatNoEncoderWroteIsAnError) {
  for (
      const char* text :
      {"",
       "{",
       "[]",
       "null",
       "42",
       "\"hello\"",
       "{}",
       R"({"type":1})",
       R"({"type":"nonsense"})",
       R"({"type":"ping"})",
       R"({"type":"ping","id":-1})",
       R"({"type":"ping","id":1.5})",
       R"({"type":"ping","id":"1"})",
       R"({"type":"ping","id":1e300})",
       R"({"type":"ping","id":99999999999999999999999})",
       R"({"type":"pong","id":1,"reference_ns":18446744073709551615})",
       R"({"type":"stop","reason":7,"exit_code":1})",
       R"({"type":"stop","reason":"no code"})",
       R"({"type":"kv_set","key":"k","value":"abc"})",
       R"({"type":"kv_set","key":"k","value":"zz"})",
       R"({"type":"assignment","run_case":"{"})",
       R"({"type":"failure","code":77,"message":"","native_code":0,"where":"","communication":false,"dropped_spans":0,"peak_memory_bytes":0})"}) {
    EXPECT_THROW(decode(text), Error) << text;
  }
  EXPECT_THROW(decode(std::string(1 << 20, '[')), Error);
}

TEST(Messages, ValuesThatCannotBeTrueAreRefused) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  const auto refused = [](const Message& message, std::string_view why) {
    EXPECT_ERROR(ErrorCode::kRunFailed, why, decode(encode(message)));
  };
  refused(Hello{.rank = -1}, "the rank is -1");
  refused(Stop{"as if all were well", 0}, "the exit code is 0");
  refused(Finish{256}, "the exit code is 256");
  refused(Hello{.rank = 65536}, "the rank is 65536");
  refused(Hello{.pid = -1}, "the process id is -1");
  refused(Hello{.local_rank = -2}, "the local rank is -2");
  refused(Hello{.world_size = 65537}, "the world size is 65537");
  refused(Ready{.clock = {kMax, 0, 0}}, "a clock reading has time 9223372036854775807 ns");
  refused(Ready{.clock = {0, kMin, 0}}, "offset -9223372036854775808 ns");
  refused(Result{.clock = {0, 0, -1}}, "uncertainty -1 ns");
  refused(Result{.dropped_spans = ~std::uint64_t{0}}, "the number of dropped spans is 18446744073709551615");
  refused(Heartbeat{.steps_completed = 0xFFFF'FFFF}, "the step is 4294967295");
  refused(Heartbeat{.collective = {.for_ns = kMax}}, "the time in a collective is 9223372036854775807");
  refused(Heartbeat{.long_work = static_cast<ddp::LongWork>(ddp::kLongWorks)}, "\"long_work\" has a value that is not allowed");
  refused(Result{.steps_done = 0xFFFF'FFFF}, "the step is 4294967295");
  refused(Heartbeat{.collectives_ns = -1}, "the time in all collectives is -1");
  refused(Heartbeat{.peak_memory_bytes = -1}, "the peak memory is -1");
  refused(Failure{.peak_memory_bytes = kMax}, "the peak memory is 9223372036854775807");
  refused(Holding{1, 0xFFFF'FFFF}, "the step is 4294967295");
  refused(LastStep{0x7FFF'FFFF, false}, "the step is 2147483647");
  refused(Hold{1, -1}, "the lead is -1");
  refused(RankOwnTime{1, -2, 0, 0}, "the time of operators is -2");
  refused(RankOwnTime{1, 0, -1, 0}, "the time in the loader is -1");
  refused(RankOwnTime{1, 0, 0, -1}, "the time without a core is -1");
  refused(Flight{1, 65, 0, false, false, 0, {}}, "the number of processes is 65");
  refused(Flight{1, 1, 0, false, false, 0, collective::Bytes(Flight::kMostBytes + 1)}, "the size of a flight recorder is 4097");
  refused(Flight{1, 1, 0, false, false, -1, {}}, "the time of a flight recorder is -1");
  refused(StepTimes{-1, {}}, "the time of the measured steps is -1");
  refused(StepTimes{1, {{0, 1, 0, 0}}}, "the number of steps is 0");
  refused(StepTimes{1, {{1, -1, 0, 0}}}, "the time of steps is -1");
  refused(StepTimes{1, {{1, 1, 2, 0}}}, "the number of pairs is 2");
  refused(StepTimes{1, {{1, 1, 1, std::numeric_limits<double>::infinity()}}}, "the cost of the probes");
  refused(StepTimes{1, std::vector<StepWindow>(StepTimes::kMostWindows + 1, StepWindow{1, 1, 0, 0})}, "windows");
  refused(KvGather{1, "p", 2, 2}, "the place of a rank is 2");
  refused(KvGather{1, "p", 2, 60000}, "the place of a rank is 60000");
  refused(Pong{1, kMin}, "the time of the answer is -9223372036854775808");
  Assignment assignment;
  assignment.rank = -5;
  refused(assignment, "the rank is -5");
  assignment = {};
  assignment.world_size = 0;
  refused(assignment, "the world size is 0");
}

TEST(Messages, DamagedMessagesAreReadOrRefusedButNeverWorse) {
  std::mt19937 random(7);
  const std::string whole = encode(Heartbeat{18, 2.25, {"all_reduce", 41, true, 5}, 6});
  for (int trial = 0; trial < 2000; ++trial) {
    std::string damaged = whole;
    for (int change = 0; change < 3; ++change)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    if (trial % 3 == 0) damaged.resize(random() % damaged.size());
    try {
      decode(damaged);
    } catch (const Error&) {
      // refused: as good as read
    }
  }
}

}  // namespace
}  // namespace ddbench::launch
