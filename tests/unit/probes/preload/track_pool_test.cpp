#include "probes/preload/track_pool.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "probes/recorder/spool.h"
#include "sample_spans.h"
#include "temp_directory.h"

namespace ddbench::inject {
namespace {

class TrackPoolTest : public ::testing::Test {
 protected:
  const testing::TempDirectory directory_;
  host::Recorder recorder_{{directory_.path() / "rank0.spool", 16, 0, "test"}};
  TrackPool pool_;
};

TEST_F(TrackPoolTest, ThreadsWithoutEndRecordAllOnOneTrack) {
  constexpr std::size_t kThreads = 3 * TrackPool::kMost;
  recorder_.intern("gemm");
  std::mutex mutex;
  std::set<const host::Recorder::Track*> used;
  for (std::size_t i = 0; i < kThreads; ++i) {
    std::thread([&] {
      host::Recorder::Track* track = nullptr;
      {
        const std::lock_guard lock(mutex);
        track = pool_.take(recorder_, 1, Lane::kMain);
      }
      ASSERT_NE(track, nullptr);
      while (!track->record(testing::numbered_span(i))) recorder_.flush();
      const std::lock_guard lock(mutex);
      used.insert(track);
      pool_.give_back(*track, 1);
    }).join();
  }
  recorder_.stop();
  EXPECT_EQ(used.size(), 1u);
  EXPECT_EQ(host::SpoolReader(directory_.path() / "rank0.spool").read().spans.size(), kThreads);
}

TEST_F(TrackPoolTest, EachLaneHasItsOwn) {
  host::Recorder::Track& main = *pool_.take(recorder_, 1, Lane::kMain);
  pool_.give_back(main, 1);
  host::Recorder::Track& communication = *pool_.take(recorder_, 1, Lane::kCommunication);
  EXPECT_EQ(communication.lane(), Lane::kCommunication);
  EXPECT_EQ(pool_.take(recorder_, 1, Lane::kMain), &main);
}

TEST_F(TrackPoolTest, AsManyAtATimeAsThereIsMemoryForAndAChildBeginsAnew) {
  std::vector<host::Recorder::Track*> tracks;
  for (std::size_t i = 0; i < TrackPool::kMost; ++i) tracks.push_back(pool_.take(recorder_, 1, Lane::kMain));
  EXPECT_EQ(std::set(tracks.begin(), tracks.end()).size(), TrackPool::kMost);
  EXPECT_EQ(pool_.take(recorder_, 1, Lane::kMain), nullptr);
  pool_.give_back(*tracks[7], 1);
  EXPECT_EQ(pool_.take(recorder_, 1, Lane::kMain), tracks[7]);

  EXPECT_NE(pool_.take(recorder_, 2, Lane::kMain), nullptr) << "another recorder, as behind a fork";
  pool_.give_back(*tracks[8], 1);
  EXPECT_NE(pool_.take(recorder_, 2, Lane::kMain), tracks[8]) << "it is the parent's";
}

}  // namespace
}  // namespace ddbench::inject
