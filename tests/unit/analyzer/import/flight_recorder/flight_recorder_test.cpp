#include "analyzer/import/flight_recorder/flight_recorder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "analyzer/import/flight_recorder/dump.h"
#include "analyzer/import/flight_recorder/pickle.h"
#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::imports {
namespace {

struct FlightEntry {
  const char* name = "nccl:all_reduce";
  int sequence = 0;
  const char* state = "scheduled";
  bool is_p2p = false;
};

std::string flight_json(const std::vector<FlightEntry>& entries, int world_size = 3, const std::string& more = "") {
  std::string text = R"({"version": "2.9", "nccl_version": "2.27.3", )" + more + R"("pg_config": {"0": {"name": "0", "desc": "", "ranks": "[)";
  for (int rank = 0; rank < world_size; ++rank) text += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  text += R"(]"}}, "entries": [)";
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += fmt::format(R"({}{{"record_id": {}, "process_group": ["0", ""], "profiling_name": "{}", "{}": {}, "state": "{}", "is_p2p": {}}})",
                        i == 0 ? "" : ", ", i, entries[i].name, entries[i].is_p2p ? "p2p_seq_id" : "collective_seq_id", entries[i].sequence,
                        entries[i].state, entries[i].is_p2p);
  return text + "]}";
}

FlightDump flight_of(int rank, const std::vector<FlightEntry>& entries) {
  FlightDump dump = read_flight_dump(flight_json(entries), fmt::format("_dump_{}", rank));
  dump.rank = rank;
  return dump;
}

/// Each rank sends to the next and receives from the one before, as batch_isend_irecv records it.
std::vector<FlightEntry> batch_in_ring(int rank, const char* coalesced_state) {
  static const char* const kSends[] = {"nccl:send 0->1", "nccl:send 1->2", "nccl:send 2->0"};
  static const char* const kReceives[] = {"nccl:recv 0<-2", "nccl:recv 1<-0", "nccl:recv 2<-1"};
  return {{kSends[rank], 5, "scheduled", true}, {kReceives[rank], 5, "scheduled", true}, {"nccl:coalesced", 5, coalesced_state, true}};
}

std::vector<int> missing_of(const Hang& hang) {
  std::vector<int> ranks;
  for (const MissingRank& missing : hang.missing) ranks.push_back(missing.rank);
  return ranks;
}

TEST(FlightRecorder, SendsOfABatchHaveTheStateOfItsEnd) {
  std::vector<FlightEntry> entries = batch_in_ring(0, "completed");
  entries.insert(entries.begin(), {"nccl:send 0->1", 4, "scheduled", true});  // by itself, and not done
  const FlightDump dump = flight_of(0, entries);
  std::vector<bool> completed;
  for (const RecordedOperation& operation : dump.operations) completed.push_back(operation.is_completed);
  EXPECT_EQ(completed, (std::vector<bool>{false, true, true, true}));
}

TEST(FlightRecorder, AfterABatchThatEndedTheCollectiveIsWhatHangs) {
  std::vector<FlightDump> dumps;
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<FlightEntry> entries = batch_in_ring(rank, "completed");
    if (rank != 1) entries.push_back({"nccl:all_reduce", 8});
    dumps.push_back(flight_of(rank, entries));
  }
  const Hang hang = find_hang(dumps);
  EXPECT_EQ(missing_of(hang), (std::vector<int>{1}));
  EXPECT_TRUE(test::contains(hang.missing.at(0).why, "did not come to nccl:all_reduce #8"));
}

TEST(FlightRecorder, AllSendsOfABatchAreUnderWayAtOnce) {
  std::vector<FlightDump> dumps;
  for (int rank = 0; rank < 3; ++rank) dumps.push_back(flight_of(rank, batch_in_ring(rank, "scheduled")));
  const Hang inside = find_hang(dumps);
  EXPECT_TRUE(inside.missing.empty());
  ASSERT_EQ(inside.entered_by_all.size(), 3u);
  EXPECT_EQ(inside.entered_by_all[0], "nccl:send 0->1 #5 of group 0, ranks 0-2");
  dumps[2] = flight_of(2, {});
  EXPECT_EQ(missing_of(find_hang(dumps)), (std::vector<int>{2}));
  // What has no arrow says nothing about a peer.
  EXPECT_TRUE(find_hang({flight_of(0, {{"nccl:coalesced", 5, "scheduled", true}})}).missing.empty());
}

TEST(FlightRecorder, RanksThatCannotBeAreRefused) {
  EXPECT_ERROR(ErrorCode::kBadInput, "d: it says that it is of rank 2147483647",
               read_flight_dump(flight_json({}, 1, R"("rank": 2147483647, )"), "d"));
  std::string text = flight_json({}, 2);
  text.replace(text.find("[0, 1]"), 6, "[0, 2147483647]");
  EXPECT_ERROR(ErrorCode::kBadInput, "d: a process group has rank 2147483647", read_flight_dump(text, "d"));
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "_dump_2147483647") << flight_json({});
  EXPECT_ERROR(ErrorCode::kBadInput, "_dump_2147483647: its name says that it is of rank 2147483647", read_flight_recorder(folder.path()));
}

TEST(FlightRecorder, WhichRanksShareANodeIsNotSaid) {
  const test::TemporaryDirectory folder;
  for (const char* name : {"_dump_0", "_dump_1"}) std::ofstream(folder / name) << flight_json({{"nccl:all_reduce", 8}}, 2);
  const FlightRecording recording = read_flight_recorder(folder.path());
  EXPECT_TRUE(recording.run.run.run_case.nodes_not_stated);
  EXPECT_LT(recording.content.size(), 100u) << "a hash of the dumps";
  std::ofstream(folder / "_dump_1") << flight_json({{"nccl:all_reduce", 9}}, 2);
  EXPECT_NE(read_flight_recorder(folder.path()).content, recording.content);
}

TEST(FlightRecorder, DeepValuesAreNotCopied) {
  const std::string deep(100'000, '[');
  std::string text = flight_json({{"nccl:all_reduce", 8}});
  text.replace(text.find("false"), 5, deep + std::string(deep.size(), ']'));
  EXPECT_FALSE(read_flight_dump(text, "d").operations.at(0).is_p2p);
}

TEST(Pickle, RemembersNoMoreTextThanItHas) {
  std::string text(1 << 20, 'x');
  std::string bytes("\x80\x02X\x00\x00\x10\x00", 7);
  bytes += text + std::string("q\x00", 2);
  EXPECT_EQ(read_pickle(bytes + "h" + std::string(1, '\0') + "\x86.", "p").at(1), text);
  for (int place = 0; place < 100; ++place) bytes += std::string("r") + static_cast<char>(place) + std::string(3, '\1');
  EXPECT_ERROR(ErrorCode::kBadInput, "it remembers more text than it has", read_pickle(bytes + ".", "p"));
}

}  // namespace
}  // namespace ddbench::imports
