#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <thread>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/sqlite/database.h"
#include "core/error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

constexpr int kRunsAWriter = 4;
constexpr int kAppendsARun = 6;
constexpr int kSpansAnAppend = 40;

std::vector<Span> numbered_spans(int append) {
  std::vector<Span> spans(kSpansAnAppend);
  for (int index = 0; index < kSpansAnAppend; ++index) {
    spans[index].begin_ns = append * kSpansAnAppend + index;
    spans[index].step = static_cast<std::uint32_t>(append);
  }
  return spans;
}

// One writer's work, with a RunStore of its own.
void write_runs(const std::filesystem::path& file, const std::string& prefix) {
  RunStore store = RunStore::open(file, OpenMode::kReadWrite);
  for (int run = 0; run < kRunsAWriter; ++run) {
    RunRecord record = test::plain_run(prefix + std::to_string(run), run);
    store.create_run(record);
    for (int append = 0; append < kAppendsARun; ++append) {
      store.append_spans(record.id, 0, numbered_spans(append), std::vector<std::string>{"name"});
      store.put_steps(record.id, std::vector{test::full_step(0, static_cast<std::uint32_t>(append))});
    }
    record.state = RunState::kDone;
    store.update_run(record);
  }
}

void expect_complete(const std::filesystem::path& file, const std::vector<std::string>& prefixes) {
  const RunStore store = RunStore::open(file, OpenMode::kReadOnly);
  EXPECT_EQ(store.runs({.state = RunState::kDone}).size(), prefixes.size() * kRunsAWriter);
  for (const std::string& prefix : prefixes) {
    for (int run = 0; run < kRunsAWriter; ++run) {
      const RunId id = prefix + std::to_string(run);
      const std::vector<Span> spans = store.spans(id, 0);
      ASSERT_EQ(spans.size(), static_cast<std::size_t>(kAppendsARun * kSpansAnAppend)) << id;
      for (std::size_t index = 0; index < spans.size(); ++index) {
        ASSERT_EQ(spans[index].begin_ns, static_cast<std::int64_t>(index)) << id;
      }
      EXPECT_EQ(store.steps(id).size(), static_cast<std::size_t>(kAppendsARun));
    }
  }
}

template <typename Work>
pid_t start_process(Work&& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    work();
    _exit(0);
  } catch (const std::exception& error) {
    fprintf(stderr, "child: %s\n", error.what());
    _exit(1);
  }
}

// All of them create the store, too: whoever comes first.
TEST(Concurrency, ProcessesWritingAtOnceLoseNothing) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory / "results.db";
  const std::vector<std::string> prefixes = {"a", "b", "c", "d"};
  std::vector<pid_t> children;
  for (const std::string& prefix : prefixes) {
    children.push_back(start_process([&] { write_runs(file, prefix); }));
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  expect_complete(file, prefixes);
}

TEST(Concurrency, ThreadsWritingAtOnceLoseNothing) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory / "results.db";
  const std::vector<std::string> prefixes = {"a", "b", "c", "d"};
  std::vector<std::thread> threads;
  for (const std::string& prefix : prefixes) threads.emplace_back([&] { write_runs(file, prefix); });
  for (std::thread& thread : threads) thread.join();
  expect_complete(file, prefixes);
}

// What the child has committed it writes into a pipe; so much at least must be there after its death.
TEST(Concurrency, KilledWriterLeavesAConsistentStoreWithAllItCommitted) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory / "results.db";
  RunStore::open(file, OpenMode::kReadWrite);
  std::mt19937_64 random(6);
  for (int round = 0; round < 12; ++round) {
    const RunId id = "round" + std::to_string(round);
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = start_process([&] {
      RunStore store = RunStore::open(file, OpenMode::kReadWrite);
      store.create_run(test::plain_run(id));
      for (int append = 0;; ++append) {
        store.append_spans(id, 0, numbered_spans(append), std::vector<std::string>{"name"});
        if (write(ends[1], "x", 1) != 1) _exit(1);
      }
    });
    close(ends[1]);
    char byte = 0;
    ASSERT_EQ(read(ends[0], &byte, 1), 1) << "the child began";
    usleep(static_cast<useconds_t>(random() % 20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::int64_t committed = 1;
    while (read(ends[0], &byte, 1) == 1) ++committed;
    close(ends[0]);

    RunStore store = RunStore::open(file, OpenMode::kReadWrite);
    const std::vector<Span> spans = store.spans(id, 0);
    EXPECT_EQ(spans.size() % kSpansAnAppend, 0u) << "a part of an append was kept";
    EXPECT_GE(spans.size(), static_cast<std::size_t>(committed * kSpansAnAppend));
    EXPECT_LE(spans.size(), static_cast<std::size_t>((committed + 1) * kSpansAnAppend));
    for (std::size_t index = 0; index < spans.size(); ++index) {
      ASSERT_EQ(spans[index].begin_ns, static_cast<std::int64_t>(index));
    }
    store.append_spans(id, 0, std::vector{Span{}}, {});
  }
  const Database database(file, Access::kExisting);
  std::string verdict;
  Statement check = database.prepare("PRAGMA integrity_check");
  ASSERT_TRUE(check.step());
  check.read(verdict);
  EXPECT_EQ(verdict, "ok");
  EXPECT_FALSE(database.prepare("PRAGMA foreign_key_check").step());
}

TEST(Concurrency, WriterKilledWhileCreatingTheStoreLeavesOneThatCanBeUsed) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 12; ++round) {
    const test::TemporaryDirectory directory;
    const std::filesystem::path file = directory / "results.db";
    const pid_t child = start_process([&] { RunStore::open(file, OpenMode::kReadWrite); });
    usleep(static_cast<useconds_t>(random() % 6'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    RunStore store = RunStore::open(file, OpenMode::kReadWrite);
    store.create_run(test::plain_run("a"));
    EXPECT_EQ(store.runs().size(), 1u);
  }
}

}  // namespace
}  // namespace ddbench::store
