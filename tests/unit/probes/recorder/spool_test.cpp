#include "probes/recorder/spool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/span_limits.h"
#include "expect_error.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/spool_format.h"
#include "probes/recorder/spool_writer.h"
#include "sample_spans.h"
#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::numbered_span;
using testing::read_file;
using testing::TempDirectory;

/// Everything a reader gives, batch by batch, until it gives nothing more.
struct Collected {
  std::vector<Span> spans;
  std::vector<Scalar> scalars;
  std::vector<std::string> names;
  bool ended = false;

  void add(const SpoolBatch& batch) {
    spans.insert(spans.end(), batch.spans.begin(), batch.spans.end());
    scalars.insert(scalars.end(), batch.scalars.begin(), batch.scalars.end());
    names.insert(names.end(), batch.new_names.begin(), batch.new_names.end());
    ended = ended || batch.ended;
  }
  bool is_prefix_of(const Collected& whole) const {
    const auto prefix = [](const auto& part, const auto& all) {
      return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
    };
    return prefix(spans, whole.spans) && prefix(scalars, whole.scalars) && prefix(names, whole.names);
  }
};

/// Appends frames as a rank would, several of each type.
void write_sample(const std::filesystem::path& file) {
  SpoolWriter writer(file, 5, "run");
  std::uint32_t first_id = 0;
  for (const std::string name : {"gemm", ""}) {
    writer.write_names(std::span(&name, 1));
    ++first_id;
    std::vector<Span> spans;
    for (std::uint64_t i = 0; i < 3; ++i) spans.push_back(numbered_span(first_id * 10 + i));
    writer.write_spans(spans);
    const Scalar scalar{0, first_id, 1.5};
    writer.write_scalars(std::span(&scalar, 1));
    writer.write_dropped(first_id * 100);
  }
  writer.write_end();
  writer.close();
}

struct SpoolTest : ::testing::Test {
  SpoolTest() : file(directory.path() / "rank5.spool") {
    write_sample(file);
    bytes = read_file(file);
    whole.add(SpoolReader(file).read());
  }
  TempDirectory directory;
  std::filesystem::path file;
  std::string bytes;
  Collected whole;
};

std::string error_of_opening(const std::filesystem::path& file, ErrorCode code) {
  try {
    SpoolReader reader(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.message();
  }
  ADD_FAILURE() << file << " was opened";
  return {};
}

TEST_F(SpoolTest, SampleIsWhole) {
  EXPECT_EQ(whole.spans.size(), 6u);
  EXPECT_EQ(whole.scalars.size(), 2u);
  EXPECT_EQ(whole.names, (std::vector<std::string>{"gemm", ""}));
  EXPECT_TRUE(whole.ended);
  EXPECT_EQ(SpoolReader(file).read().dropped, 200u);
}

TEST_F(SpoolTest, CutAnywhereItYieldsAPrefix) {
  std::size_t spans_before = whole.spans.size();
  for (std::size_t length = bytes.size(); length-- > 0;) {
    std::filesystem::resize_file(file, length);
    SpoolReader reader(file);
    Collected part;
    part.add(reader.read());
    part.add(reader.read());
    ASSERT_TRUE(part.is_prefix_of(whole)) << "cut at " << length;
    ASSERT_LE(part.spans.size(), spans_before);
    ASSERT_FALSE(part.ended);
    ASSERT_EQ(reader.rank() == 5, reader.run_id() == "run");
    spans_before = part.spans.size();
  }
  EXPECT_EQ(spans_before, 0u);
}

TEST_F(SpoolTest, GrowingByteByByteItYieldsEverythingOnce) {
  const std::filesystem::path growing = directory.path() / "growing.spool";
  std::ofstream out(growing, std::ios::binary);
  SpoolReader reader(growing);
  EXPECT_EQ(reader.rank(), -1);
  Collected all;
  for (const char byte : bytes) {
    out.put(byte).flush();
    ASSERT_FALSE(all.ended);
    all.add(reader.read());
  }
  EXPECT_TRUE(all.ended);
  EXPECT_EQ(all.spans, whole.spans);
  EXPECT_EQ(all.scalars, whole.scalars);
  EXPECT_EQ(all.names, whole.names);
  EXPECT_EQ(reader.rank(), 5);
}

TEST_F(SpoolTest, AnyFlippedByteIsAnError) {
  // In place: ext4 flushes a file to the disk that was emptied and written again.
  std::fstream patched(file, std::ios::binary | std::ios::in | std::ios::out);
  const auto patch = [&patched](std::size_t at, char byte) {
    patched.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
  };
  for (std::size_t at = 0; at < bytes.size(); patch(at, bytes[at]), ++at) {
    for (const char flip : {char{1}, static_cast<char>(0x80)}) {
      patch(at, static_cast<char>(bytes[at] ^ flip));
      Collected before;
      bool thrown = false;
      try {
        SpoolReader reader(file);
        before.add(reader.read());
        before.add(reader.read());
      } catch (const Error& error) {
        thrown = true;
        ASSERT_EQ(error.code(), ErrorCode::kRunFailed);
        ASSERT_NE(error.message().find("rank5.spool"), std::string::npos) << error.message();
        ASSERT_NE(error.message().find("offset"), std::string::npos) << error.message();
      }
      ASSERT_TRUE(thrown) << "byte " << at;
      ASSERT_TRUE(before.is_prefix_of(whole)) << "byte " << at;
      ASSERT_FALSE(before.ended) << "byte " << at;
    }
  }
}

TEST_F(SpoolTest, GoodFramesBeforeACorruptOneAreGivenFirst) {
  std::string flipped = bytes;
  flipped[bytes.size() - 1 - sizeof(FrameHeader)] ^= 1;  // in the payload before the end frame
  directory.write("rank5.spool", flipped);
  SpoolReader reader(file);
  EXPECT_EQ(reader.read().spans, whole.spans);
  EXPECT_THROW(reader.read(), Error);
  EXPECT_THROW(reader.read(), Error);
}

TEST_F(SpoolTest, ImpossibleValuesInASoundFrameAreLeftOutAndCounted) {
  std::vector<Span> spans(6, numbered_span(1));
  spans[1].kind = static_cast<SpanKind>(255);
  spans[2].lane = static_cast<Lane>(5);
  spans[3].end_ns = std::numeric_limits<std::int64_t>::max();
  spans[4].name_id = 1;  // comes later
  const std::string name = "gemm";
  {
    SpoolWriter writer(file, 5, "run");
    writer.write_names(std::span(&name, 1));
    writer.write_spans(spans);
    writer.write_scalars(std::vector<Scalar>{{0, 1, 1.5}, {7, 1, 1.5}, {0, kLastStep + 1, 1.5}});
    writer.write_names(std::span(&name, 1));
    writer.write_spans(std::span(spans).subspan(4));
    writer.write_end();
  }
  const SpoolBatch batch = SpoolReader(file).read();
  EXPECT_EQ(batch.spans, (std::vector<Span>{spans[0], spans[5], spans[4], spans[5]}));
  EXPECT_EQ(batch.scalars, (std::vector<Scalar>{{0, 1, 1.5}}));
  EXPECT_EQ(batch.invalid, 6u);
  EXPECT_EQ(batch.first_invalid, "span 1 of the frame at offset 83: kind 255 is unknown");
  EXPECT_EQ(batch.dropped, 0u);
  EXPECT_TRUE(batch.ended);
}

TEST_F(SpoolTest, ASpoolOfAnotherRankIsRefused) {
  SpoolReader reader(file);
  EXPECT_NO_THROW(reader.check_rank(5));
  EXPECT_ERROR(ErrorCode::kRunFailed, "says that it is of rank 5, not of rank 4", reader.check_rank(4));
}

TEST_F(SpoolTest, ReadsInBatches) {
  SpoolReader reader(file);
  Collected all;
  SpoolBatch batch = reader.read(1);
  EXPECT_EQ(batch.spans.size(), 3u);  // one frame
  EXPECT_FALSE(batch.ended);
  while (!batch.ended) {
    all.add(batch);
    batch = reader.read(1);
  }
  EXPECT_EQ(all.spans, whole.spans);
}

TEST_F(SpoolTest, RefusesWhatIsNoSpool) {
  const std::string absent = error_of_opening(directory.path() / "absent.spool", ErrorCode::kRunFailed);
  EXPECT_NE(absent.find("absent.spool"), std::string::npos) << absent;
  const std::string text =
      error_of_opening(directory.write("notes.txt", "these are only notes"), ErrorCode::kRunFailed);
  EXPECT_NE(text.find("not a spool"), std::string::npos) << text;
  std::string newer = bytes;
  newer[12] = 9;
  const std::string version = error_of_opening(directory.write("newer.spool", newer), ErrorCode::kRunFailed);
  EXPECT_NE(version.find("version 9"), std::string::npos) << version;
}

TEST(SpoolChecksum, ChangesWithEveryBitAndLength) {
  std::string text(100, 'x');
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::uint64_t expected = spool_checksum(text.data(), length);
    ASSERT_NE(expected, spool_checksum(text.data(), length + 1));
    for (std::size_t bit = 0; bit < 8 * length; ++bit) {
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
      ASSERT_NE(expected, spool_checksum(text.data(), length));
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    }
  }
}

}  // namespace
}  // namespace ddbench::host
