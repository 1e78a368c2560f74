#include "harness/launch/transfer/shipped_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "expect_error.h"
#include "temporary_directory.h"

namespace ddbench::launch {
namespace {

using test::message_of;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

FileChunk chunk(const std::string& name, const std::string& bytes) {
  return {name, {bytes.begin(), bytes.end()}};
}

TEST(KeepChunk, AppendsToTheRanksOwnFilesOnly) {
  const test::TemporaryDirectory directory;
  keep_chunk(directory.path(), 3, chunk("rank3.spool", "ab"));
  keep_chunk(directory.path(), 3, chunk("rank3.spool", "cd"));
  keep_chunk(directory.path(), 3, chunk("rank3.4711.spool", "x"));
  EXPECT_EQ(content(directory.path() / "rank3.spool"), "abcd");
  for (const char* name :
       {"rank30.spool", "rank4.spool", "../rank3.spool", "rank3./x.spool", "rank3.so", "owner", ""}) {
    message_of(ErrorCode::kRunFailed, [&] { keep_chunk(directory.path(), 3, chunk(name, "x")); });
  }
}

TEST(RemoveFilesOfKilledRanks, LeavesWhatRunsKeepForTheirStores) {
  const test::TemporaryDirectory base;
  ::setenv("DDBENCH_TMPDIR", base.path().c_str(), 1);
  const std::string run = "20261121T001905-3f9a1c2b";
  for (const std::string& name : {run, run + "-rank3", run + "-ranks", run + "-rank"}) {
    TemporaryDirectory directory(temporary_root(), name);
    std::ofstream(directory.path() / "rank0.spool") << "measured";
    directory.keep();
  }
  remove_files_of_killed_ranks();
  EXPECT_FALSE(std::filesystem::exists(temporary_root() / (run + "-rank3")));
  for (const std::string& name : {run, run + "-ranks", run + "-rank"})
    EXPECT_EQ(content(temporary_root() / name / "rank0.spool"), "measured");
  ::unsetenv("DDBENCH_TMPDIR");
}

TEST(ShippedFiles, SendsWhatWasAppendedOnceAndNoMoreThanAsked) {
  const test::TemporaryDirectory root;
  const test::TemporaryDirectory arrived;
  ::setenv("DDBENCH_TMPDIR", root.path().c_str(), 1);
  std::size_t sent = 0;
  // Standard output goes to the log from open() on: a process of its own.
  EXPECT_EXIT(
      {
        {
          ShippedFiles files([&](const FileChunk& each) {
            sent += each.bytes.size();
            keep_chunk(arrived.path(), 7, each);
          });
          files.open("run", 7);
          std::ofstream spool(files.spool(), std::ios::binary);
          spool << std::string(300'000, 'x') << std::flush;
          const bool first_was_all = files.ship(100'000);
          const bool bounded = sent <= 100'000;
          spool << "end" << std::flush;
          while (!files.ship(100'000)) {
          }
          const bool whole = content(arrived.path() / "rank7.spool") == std::string(300'000, 'x') + "end";
          if (first_was_all || !bounded || !whole || sent != 300'003) std::_Exit(1);
        }
        std::_Exit(std::filesystem::is_empty(root.path()) ? 0 : 2);
      },
      ::testing::ExitedWithCode(0), "");
  ::unsetenv("DDBENCH_TMPDIR");
}

}  // namespace
}  // namespace ddbench::launch
