// What happens to a run when its spool cannot be written.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/error.h"
#include "probes/recorder/flight_ring.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/spool.h"
#include "hang_limit.h"
#include "sample_spans.h"
#include "temp_directory.h"

namespace ddbench::host {
namespace {

using testing::numbered_span;
using testing::TempDirectory;

/// Records until the spool fails, and checks that every span is either readable or counted.
void overflow(const std::filesystem::path& file, const std::string& cause) {
  Recorder recorder({file, 1024, 0, "run"});
  recorder.intern("gemm");
  Recorder::Track& track = recorder.track(Lane::kMain);
  std::uint64_t recorded = 0;
  const auto give_up = std::chrono::steady_clock::now() + test::kHangs;
  while (recorder.failure().empty() && std::chrono::steady_clock::now() < give_up) {
    for (int i = 0; i < 200; ++i) track.record(numbered_span(recorded++));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_NE(recorder.failure().find(file.string() + ": " + cause), std::string::npos) << recorder.failure();
  EXPECT_NE(recorder.failure().find(" free)"), std::string::npos) << recorder.failure();
  for (int i = 0; i < 5000; ++i) track.record(numbered_span(recorded++));
  recorder.record_scalar("loss", 1, 0.5);

  const SpoolBatch batch = SpoolReader(file).read();
  EXPECT_GT(batch.spans.size(), 0u);
  EXPECT_FALSE(batch.ended);
  std::int64_t last_ns = -1;
  for (const Span& span : batch.spans) {
    ASSERT_GT(span.begin_ns, last_ns);
    last_ns = span.begin_ns;
  }
  EXPECT_EQ(batch.spans.size() + recorder.dropped(), recorded);
  try {
    recorder.stop();
    ADD_FAILURE() << "stop() hid the failure";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kEnvironment);
    EXPECT_NE(error.native_code(), 0);
    EXPECT_EQ(error.message(), recorder.failure());
  }
  EXPECT_EQ(batch.spans.size() + recorder.dropped(), recorded);
}

TEST(SpoolFailure, FullFileSystem) {
  const TempDirectory directory;
  std::string skipped;
  // Its own mount namespace: nothing to clean up, and invisible to other processes. The drain thread inherits
  // it.
  std::thread([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", directory.path().c_str(), "tmpfs", 0, "size=512k") != 0) {
      skipped = "skipped: this user may not mount a tmpfs";
      return;
    }
    overflow(directory.path() / "rank0.spool", "No space left on device");
  }).join();
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

TEST(SpoolFailure, AFlightRecorderIsNotMappedWhereTheDiskIsFull) {
  const TempDirectory directory;
  std::string skipped;
  bool mapped_before = false;
  bool mapped_when_full = true;
  std::thread([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
      skipped = "skipped: this user may not mount a tmpfs";
      return;
    }
    FlightRing* const ring = map_flight_ring((directory.path() / "rank0.flight").c_str());
    mapped_before = ring != nullptr;
    std::ofstream(directory.path() / "fills") << std::string(1 << 20, 'x');
    if (ring != nullptr) ring->enter("all_reduce", 1, 2);
    FlightRing* const late = map_flight_ring((directory.path() / "rank1.flight").c_str());
    mapped_when_full = late != nullptr;
  }).join();
  if (!skipped.empty()) GTEST_SKIP() << skipped;
  EXPECT_TRUE(mapped_before);
  EXPECT_FALSE(mapped_when_full) << "the first store into it would be the program's end";
}

TEST(SpoolFailure, FileSizeLimit) {
  const TempDirectory directory;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{256 * 1024, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  overflow(directory.path() / "rank0.spool", "File too large");
  ::setrlimit(RLIMIT_FSIZE, &before);
}

std::string error_of_creating(const std::filesystem::path& file) {
  try {
    const Recorder recorder({file, 1024, 0, "run"});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kEnvironment);
    return error.message();
  }
  ADD_FAILURE() << file << " was created";
  return {};
}

TEST(SpoolFailure, FullFromTheBeginning) {
  const std::string message = error_of_creating("/dev/full");
  EXPECT_NE(message.find("cannot write spool /dev/full: No space left on device"), std::string::npos)
      << message;
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(SpoolFailure, NoSuchDirectory) {
  const TempDirectory directory;
  const std::string message = error_of_creating(directory.path() / "absent" / "rank0.spool");
  EXPECT_NE(message.find("absent/rank0.spool: No such file or directory"), std::string::npos) << message;
}

TEST(SpoolFailure, FileOfAnotherRecorder) {
  const TempDirectory directory;
  const std::filesystem::path file = directory.path() / "rank0.spool";
  Recorder first({file, 1024, 0, "run"});
  first.intern("gemm");
  first.track(Lane::kMain).record(numbered_span(1));
  const std::string message = error_of_creating(file);
  EXPECT_NE(message.find("being written by another process"), std::string::npos) << message;
  first.stop();
  EXPECT_EQ(SpoolReader(file).read().spans.size(), 1u);
}

}  // namespace
}  // namespace ddbench::host
