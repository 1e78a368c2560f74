// Every changed bit of a stored value is found by check_store.
#include "analyzer/store/sqlite/row_checksum.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "analyzer/store/maintenance/maintenance.h"
#include "analyzer/store/sqlite/open_store.h"
#include "expect_error.h"
#include "sample_records.h"
#include "temporary_directory.h"

namespace ddbench::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTables[] = {"run",        "rank",      "step",       "collective", "kernel",
                                   "step_value", "span_name", "span_chunk", "baseline",   "baseline_run"};

class RowChecksumTest : public testing::Test {
 protected:
  RowChecksumTest() {
    RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
    store.create_run(test::full_run("run"));
    store.put_ranks("run", std::vector{test::full_rank(0), test::full_rank(1)});
    StepRecord step = test::full_step(0, 3);
    // As in a store of a version that did not know them.
    step.partition[StepPart::kCpuWait] = 0;
    step.peer_wait_uncertainty_ns = 0;
    step.loss = -0.0;
    store.put_steps("run", std::vector{step});
    CollectiveRecord collective{"all_reduce", 0, 1024, 7, 100, 120, 20, true};
    collective.communicator.ranks = test::full_run("run").run_case.world_size();  // as a migration concludes
    store.put_collectives("run", std::vector{collective});
    store.put_kernels("run", std::vector<KernelRecord>{{"linear", "forward", 4, 400, 120}});
    store.append_step_values("run", 0, "loss",
                             std::vector<std::pair<std::uint32_t, double>>{{3, 2.5}, {4, 3.0}});
    store.append_spans("run", 0, std::vector{Span{.begin_ns = 42, .end_ns = 50}},
                       std::vector<std::string>{"name"});
    store.append_spans("run", 1, std::vector{Span{.begin_ns = 42, .end_ns = 50, .step = 2}},
                       std::vector<std::string>{"name"});
    store.add_baseline("main", "last", std::vector<RunId>{"run"});
  }

  static std::vector<std::string> columns_of(const Database& database, const std::string& table) {
    std::vector<std::string> columns;
    Statement names = database.prepare("SELECT name FROM pragma_table_info(?)");
    names.bind(table);
    while (names.step()) names.read(columns.emplace_back());
    return columns;
  }

  const test::TemporaryDirectory directory_;
  const fs::path file_ = directory_ / "results.db";
};

/// A chunk's bytes behind its header are its own checksum's business (damaged_chunk_test.cpp).
constexpr std::size_t kChunkHeader = 32;

/// All values that differ from `row`'s in `column` in one bit: of each bit of numbers, and of three bytes of
/// a text.
std::vector<std::string> flipped(const Statement& row, int column, const std::string& type) {
  std::vector<std::string> literals;
  if (type == "null") return {"0"};
  if (type == "integer" || type == "real") {
    for (int bit = 0; bit < 64; bit += bit % 8 == 0 ? 1 : 6) {
      const std::uint64_t mask = std::uint64_t{1} << bit;
      double number = 0;
      row.read_one(column, number);
      const auto flipped_real = std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) ^ mask);
      const auto flipped_integer =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(row.integer(column)) ^ mask);
      if (type == "integer" && flipped_integer != std::numeric_limits<std::int64_t>::min())
        literals.push_back(std::to_string(flipped_integer));
      if (type == "real" && std::isfinite(flipped_real) && flipped_real != number)
        literals.push_back(fmt::format("{:.17e}", flipped_real));
    }
    return literals;
  }
  const std::span<const std::byte> bytes = row.blob(column);
  const std::size_t end = type == "blob" ? kChunkHeader : bytes.size();
  for (const std::size_t at : {std::size_t{0}, end / 2, end - 1}) {
    for (int bit = 0; bit < 8 && at < bytes.size(); ++bit) {
      std::string hex;
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        const int flip = i == at ? 1 << bit : 0;
        hex += fmt::format("{:02x}", static_cast<int>(bytes[i]) ^ flip);
      }
      literals.push_back(type == "text" ? fmt::format("CAST(x'{}' AS TEXT)", hex)
                                        : fmt::format("x'{}'", hex));
    }
  }
  return literals;
}

TEST_F(RowChecksumTest, AFreshStoreHasNoProblem) {
  EXPECT_EQ(check_store(file_).problems, std::vector<std::string>{});
  const Database database(file_, Access::kExisting);
  for (const char* table : kTables) {
    EXPECT_GT(database.integer(fmt::format("SELECT count(*) FROM {} WHERE checksum IS NOT NULL", table)), 0)
        << table;
  }
}

TEST_F(RowChecksumTest, EachFlippedBitOfEachCellIsFound) {
  const Database database(file_, Access::kExisting);
  int flips = 0;
  for (const std::string table : kTables) {
    for (const std::string& column : columns_of(database, table)) {
      Statement row =
          database.prepare(fmt::format("SELECT {0}, typeof({0}) FROM {1} LIMIT 1", column, table));
      ASSERT_TRUE(row.step());
      std::string type;
      row.read_one(1, type);
      const std::vector<std::string> values = flipped(row, 0, type);
      row.reset();
      for (const std::string& value : values) {
        database.execute("BEGIN; PRAGMA ignore_check_constraints = ON");
        try {
          database.execute(fmt::format("UPDATE {0} SET {1} = {2} WHERE {1} IS (SELECT {1} FROM {0} LIMIT 1)",
                                       table, column, value)
                               .c_str());
          ++flips;
          EXPECT_FALSE(changed_rows(database, 9).empty() &&
                       !database.prepare("PRAGMA foreign_key_check").step())
              << table << "." << column << " became " << value;
        } catch (const Error&) {
          // A key that another row has.
        }
        database.execute("ROLLBACK");
      }
    }
  }
  EXPECT_GT(flips, 1000);
}

std::string dump(const fs::path& file) {
  const Database database = open_store(file, OpenMode::kReadOnly, builtin_migrations());
  std::string text;
  for (const char* table : kTables) {
    Statement rows = database.prepare(fmt::format("SELECT * FROM {}", table));
    while (rows.step()) {
      for (int column = 0; column < rows.columns(); ++column) {
        std::string value;
        rows.read_one(column, value);
        text += fmt::format("{}:{};", value.size(), value);
      }
    }
  }
  return text;
}

bool reads_as(const fs::path& file, const std::string& expected) {
  try {
    return dump(file) == expected;
  } catch (const Error&) {
    return false;
  }
}

bool check_finds_something(const fs::path& file) {
  try {
    return !check_store(file).problems.empty();
  } catch (const Error&) {
    return true;
  }
}

// As a disk does it: in the file itself, wherever the bit lies.
TEST_F(RowChecksumTest, AFlippedBitOfTheFileIsFoundOrChangesNothing) {
  Database(file_, Access::kExisting).execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string stored = dump(file_);
  std::ifstream stream(file_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::vector<std::size_t> used;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != 0) used.push_back(at);
  }
  std::mt19937 random(3);
  const fs::path damaged = directory_ / "damaged.db";
  int changed = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::string copy = bytes;
    const std::size_t at = used[random() % used.size()];
    copy[at] = static_cast<char>(copy[at] ^ (1 << random() % 8));
    std::ofstream(damaged, std::ios::binary) << copy;
    if (reads_as(damaged, stored)) continue;
    ++changed;
    EXPECT_TRUE(check_finds_something(damaged)) << "byte " << at;
  }
  EXPECT_GT(changed, 100);
}

TEST_F(RowChecksumTest, AProblemNamesTableRunAndKey) {
  Database(file_, Access::kExisting).execute("UPDATE rank SET node = node + 1 WHERE rank = 1");
  const std::vector<std::string> problems = check_store(file_).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "run run: the row of table rank with rank 1 is damaged: it is not as it was stored");
}

TEST_F(RowChecksumTest, UpdatedAndReplacedRowsHaveTheChecksumOfTheirNewValues) {
  RunStore store = RunStore::open(file_, OpenMode::kReadWrite);
  RunRecord run = *store.run("run");
  run.reason = "another";
  store.update_run(run);
  store.put_ranks("run", std::vector{test::full_rank(1)});
  store.append_spans("run", 0, std::vector{Span{.begin_ns = 60, .end_ns = 70}},
                     std::vector<std::string>{"name"});
  EXPECT_EQ(check_store(file_).problems, std::vector<std::string>{});
}

TEST_F(RowChecksumTest, MergedRowsKeepTheirs) {
  merge_stores(directory_ / "other.db", std::vector{file_});
  EXPECT_EQ(check_store(directory_ / "other.db").problems, std::vector<std::string>{});
}

TEST_F(RowChecksumTest, AMigrationGivesRowsOfOlderStoresTheirs) {
  const fs::path old = directory_ / "old.db";
  {
    const Database database = open_store(old, OpenMode::kReadWrite, builtin_migrations().first(6));
    database.execute(fmt::format("ATTACH '{}' AS today", file_.string()).c_str());
    for (const std::string table : kTables) {
      std::string columns;
      for (const std::string& column : columns_of(database, table))
        columns += (columns.empty() ? "" : ", ") + column;
      database.execute(
          fmt::format("INSERT INTO {0} ({1}) SELECT {1} FROM today.{0}", table, columns).c_str());
    }
  }
  EXPECT_EQ(check_store(old).problems, std::vector<std::string>{}) << "a reader's copy";
  RunStore::open(old, OpenMode::kReadWrite);
  EXPECT_EQ(check_store(old).problems, std::vector<std::string>{});
  EXPECT_EQ(dump(old), dump(file_)) << "the checksums among them";
}

// The next migration computes checksums anew: what was damaged before must not pass for good then.
TEST_F(RowChecksumTest, DamageIsStillKnownAfterAMigration) {
  Database(file_, Access::kExisting).execute("UPDATE rank SET node = node + 1 WHERE rank = 1");
  std::vector<Migration> next(builtin_migrations().begin(), builtin_migrations().end());
  next.push_back({next.back().version + 1, "ALTER TABLE rank ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'"});
  const Database migrated = open_store(file_, OpenMode::kReadWrite, next);
  const std::vector<ChangedRow> rows = changed_rows(migrated, 9);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].table, "rank");
  EXPECT_EQ(rows[0].run, "run");
  EXPECT_EQ(rows[0].key, "rank 1");
}

}  // namespace
}  // namespace ddbench::store
