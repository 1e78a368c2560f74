#include "analyzer/import/kineto/file_bytes.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "analyzer/import/kineto/rank_reader.h"
#include "analyzer/import/kineto/trace_member.h"
#include "core/text/text_hash.h"
#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::imports {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

TEST(FileBytes, WhatInflatesWithoutEndIsRefused) {
  const test::TemporaryDirectory folder;
  const std::string member = gzip(std::string(64 << 20, '\0'));
  std::ofstream file(folder / "bomb.json.gz", std::ios::binary);
  for (int i = 0; i < 20; ++i) file << member;  // 1.3 GB
  file.close();
  FileBytes bytes(folder / "bomb.json.gz");
  std::string block(1 << 20, '\0');
  EXPECT_ERROR(ErrorCode::kBadInput, "bomb.json.gz cannot be read: its gzip data inflates to more than 200 times its size",
               while (bytes.read(block.data(), block.size()) > 0) {});
}

TEST(FileBytes, WhatFollowsIsHashedAndNotInflated) {
  const test::TemporaryDirectory folder;
  const std::string begin = gzip("{}" + std::string(40 << 20, ' '));
  for (const std::string& raw : {begin + "no gzip", gzip("{} ")}) {
    std::ofstream(folder / "t.json.gz", std::ios::binary) << raw;
    FileBytes bytes(folder / "t.json.gz");
    char text[2];
    ASSERT_EQ(bytes.read(text, 2), 2u);
    EXPECT_EQ(bytes.hash(), ddbench::hash_text(raw));
  }
  // Soon after what was read, damage is found.
  std::ofstream(folder / "d.json.gz", std::ios::binary) << gzip("{}") + "no gzip";
  FileBytes damaged(folder / "d.json.gz");
  EXPECT_ERROR(ErrorCode::kBadInput, "its gzip data is damaged", damaged.hash());
}

TEST(TraceMember, DeepAndLongValuesAreRefused) {
  const auto read_member = [](const std::string& text) {
    TraceInfo info;
    read_trace_member("distributedInfo", {text, text.size(), 0}, "t.json", info);
  };
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_ERROR(ErrorCode::kBadInput, "t.json, byte 0: rank in distributedInfo is array", read_member("{\"rank\": " + deep + "}"));
  EXPECT_ERROR(ErrorCode::kBadInput, "rank in distributedInfo is \"x\"", read_member("{\"rank\": \"x\"}"));
  EXPECT_ERROR(ErrorCode::kBadInput, "distributedInfo is longer than 4 MB", read_member("{\"x\": \"" + std::string(5 << 20, 'x') + "\"}"));
}

TEST(RankReader, CollectivesOfOlderPyTorchOnSeveralStreamsAreOfUnknownGroups) {
  const test::TemporaryDirectory folder;
  std::ofstream file(folder / "t.json");
  file << "{\"traceEvents\": [";
  for (const int stream : {20, 24})
    file << (stream == 20 ? "" : ",") << R"({"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce_RING_LL_Sum_float", "pid": 0, "tid": )" << stream
         << R"(, "ts": 1, "dur": 2, "args": {"stream": )" << stream << R"(, "device": 0}})";
  file << "]}";
  file.close();
  const RankTrace trace = read_rank_trace(folder / "t.json");
  EXPECT_EQ(trace.collectives_of_unknown_group, 2u);
  EXPECT_TRUE(test::contains(trace.notes.at(0), "does not say of which process group")) << trace.notes.at(0);
}

}  // namespace
}  // namespace ddbench::imports
