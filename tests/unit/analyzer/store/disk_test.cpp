// Full disks and read-only places, on mounts that only this process sees and that go with it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "analyzer/store/sqlite/journal.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

bool write_text(const char* file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  return static_cast<bool>(stream.flush());
}

// A mount namespace of our own: as root directly, else inside a user namespace. Empty when it is there, else
// why not.
std::string enter_private_mounts() {
  static const std::string reason = []() -> std::string {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (user == 0 && unshare(CLONE_NEWNS) != 0) return "no mount namespace for root here";
    if (user != 0) {
      if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return "no user namespaces here";
      write_text("/proc/self/setgroups", "deny");
      if (!write_text("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") ||
          !write_text("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) {
        return "no user mapping here";
      }
    }
    return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? "" : "no private mounts here";
  }();
  return reason;
}

class DiskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = enter_private_mounts(); !reason.empty())
      GTEST_SKIP() << "skipped: " << reason;
    fs::create_directory(mount_point_);
    if (mount("tmpfs", mount_point_.c_str(), "tmpfs", 0, "size=2m") != 0)
      GTEST_SKIP() << "skipped: no tmpfs here";
  }
  void TearDown() override { umount2(mount_point_.c_str(), MNT_DETACH); }

  void make_read_only() const {
    ASSERT_EQ(mount(nullptr, mount_point_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  }
  void fill_disk(std::uintmax_t leave_bytes) const {
    std::ofstream file(mount_point_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (fs::space(mount_point_).available > leave_bytes && file) file << block << std::flush;
  }
  std::string integrity() const {
    const Database database(file_, Access::kExisting);
    Statement check = database.prepare("PRAGMA integrity_check");
    std::string verdict;
    if (check.step()) check.read(verdict);
    return verdict;
  }

  test::TemporaryDirectory directory_;
  fs::path mount_point_ = directory_ / "disk";
  fs::path file_ = mount_point_ / "results.db";
};

std::vector<Span> incompressible_spans() {
  static std::mt19937_64 random(8);
  std::vector<Span> spans(1000);
  for (Span& span : spans) {
    span.begin_ns = static_cast<std::int64_t>(random() >> 7);  // within span_limits.h
    span.end_ns = span.begin_ns;
    span.correlation = random();
  }
  return spans;
}

TEST_F(DiskTest, FullDiskKeepsWhatWasCommittedAndSaysSo) {
  std::size_t committed = 0;
  {
    RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
    store.create_run(test::plain_run("a"));
    const std::string message = test::message_of(ErrorCode::kRunFailed, [&] {
      for (int append = 0; append < 1000; ++append) {
        store.append_spans("a", 0, incompressible_spans(), {});
        committed += 1000;
      }
    });
    EXPECT_TRUE(test::contains(message, "the disk of " + file_.string() + " is full")) << message;
    EXPECT_GT(committed, 0u);
    EXPECT_EQ(store.spans("a", 0).size(), committed) << "read through the store that failed";
    EXPECT_ERROR(ErrorCode::kRunFailed, "is full", store.append_spans("a", 0, incompressible_spans(), {}));
    EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).spans("a", 0).size(), committed)
        << "by another reader";
  }
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).spans("a", 0).size(), committed);
  ASSERT_EQ(mount(nullptr, mount_point_.c_str(), nullptr, MS_REMOUNT, "size=8m"), 0);
  EXPECT_EQ(integrity(), "ok");
  RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
  store.append_spans("a", 0, incompressible_spans(), {});
  EXPECT_EQ(store.spans("a", 0).size(), committed + 1000) << "with room it goes on";
}

TEST_F(DiskTest, FullDiskCreatesNoRun) {
  RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
  store.create_run(test::plain_run("a"));
  fill_disk(0);
  RunRecord large = test::plain_run("b");
  large.reason = std::string(1 << 20, 'x');
  EXPECT_ERROR(ErrorCode::kRunFailed, "is full", store.create_run(large));
  EXPECT_EQ(store.runs().size(), 1u);
}

TEST_F(DiskTest, NoStoreIsLeftBehindOnAFullDisk) {
  fill_disk(0);
  EXPECT_ERROR(ErrorCode::kEnvironment, "is full", RunStore::open(file_, OpenMode::kReadWrite));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(DiskTest, ClosedStoreIsReadOnAFullDisk) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("a"));
  fill_disk(0);
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).runs().size(), 1u);
}

TEST_F(DiskTest, ClosedStoreIsReadFromAReadOnlyPlaceAndNotWritten) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::full_run("a"));
  make_read_only();
  test::expect_same(RunStore::open(file_, OpenMode::kReadOnly).find("a"), test::full_run("a"));
  EXPECT_ERROR(ErrorCode::kEnvironment, "read-only", RunStore::open(file_, OpenMode::kReadWrite));
  EXPECT_ERROR(ErrorCode::kEnvironment, "cannot create the directory",
               RunStore::open(mount_point_ / "sub" / "new.db", OpenMode::kReadWrite));
  EXPECT_ERROR(ErrorCode::kEnvironment, "read-only",
               RunStore::open(mount_point_ / "new.db", OpenMode::kReadWrite));
}

// What a killed writer leaves: its log lies beside the store, and the log's index may be gone.
TEST_F(DiskTest, UnmergedLogInAReadOnlyPlaceIsReadOrExplained) {
  {
    RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
    store.create_run(test::plain_run("a"));
    for (const char* end : {"", "-wal", "-shm"})
      fs::copy_file(file_.string() + end, file_.string() + ".copy" + end);
  }
  const fs::path killed = file_.string() + ".copy";
  fs::copy_file(killed, mount_point_ / "alone.db");
  fs::copy_file(killed.string() + "-wal", mount_point_ / "alone.db-wal");
  make_read_only();
  EXPECT_EQ(RunStore::open(killed, OpenMode::kReadOnly).runs().size(), 1u);
  EXPECT_ERROR(ErrorCode::kRunFailed, "copy both files",
               RunStore::open(mount_point_ / "alone.db", OpenMode::kReadOnly));
}

// Half of a transaction is in the file, and the journal, which takes it back, cannot be used.
TEST_F(DiskTest, HotJournalInAReadOnlyPlaceIsExplained) {
  RunStore::open(file_, OpenMode::kReadWrite).create_run(test::plain_run("a"));
  leave_log(Database(file_, Access::kExisting));
  const fs::path killed = mount_point_ / "killed.db";
  {
    const Database writer(file_, Access::kExisting);
    writer.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; PRAGMA journal_mode = PERSIST; BEGIN; CREATE TABLE large (a)");
    for (int row = 0; row < 20; ++row) writer.execute("INSERT INTO large VALUES (zeroblob(10000))");
    for (const char* end : {"", "-journal"}) fs::copy_file(file_.string() + end, killed.string() + end);
  }
  make_read_only();
  EXPECT_EQ(RunStore::open(file_, OpenMode::kReadOnly).runs().size(), 1u) << "its journal is kept, and not hot";
  EXPECT_ERROR(ErrorCode::kRunFailed, "killed.db-journal, which completes it, cannot be used where it lies: copy both files",
               RunStore::open(killed, OpenMode::kReadOnly));
}

}  // namespace
}  // namespace ddbench::store
