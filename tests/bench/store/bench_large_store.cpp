// A table of 200,000 runs: import, history and list, each beside what SQLite alone takes for the same rows on the same disk in the
// same process. Goals: import 5 s and 100 MB, history 1 s.
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "analyzer/gate/run_history.h"
#include "analyzer/import/table/table.h"
#include "core/error.h"
#include "core/unique_handle.h"
#include "temporary_directory.h"

namespace ddbench {
namespace {

namespace fs = std::filesystem;

constexpr int kRows = 200'000;
using Connection = UniqueHandle<sqlite3, sqlite3_close_v2>;

std::string table_of(int rows) {
  std::string text = "name,workload,nodes,gpus_per_node,batch_per_gpu,link,step_time_ms\n";
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> step_ms(20, 25);
  for (int i = 0; i < rows; ++i) {
    text += fmt::format("night{},model{},{},{},{},{},{:.4f}\n", i % 50, i % 7, 1 + i % 4, 1 + i % 2, 32 * (1 + i % 8),
                        i % 3 == 0 ? "" : "1gbit", step_ms(random));
  }
  return text;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;  ///< other processes on the machine do not count
};

Cost cost_of(const std::function<void()>& work) {
  const auto cpu_s = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  };
  const double cpu_before_s = cpu_s();
  const auto before = std::chrono::steady_clock::now();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count(), cpu_s() - cpu_before_s};
}

void print(const char* what, const Cost& cost, const Cost& limit, double goal_s) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:8}  {:6.2f} s  {:6.2f} s of processor  goal {:.0f} s  SQLite alone {:6.2f} s of processor, ratio {:4.1f}  "
             "peak {:.0f} MB\n",
             what, cost.wall_s, cost.cpu_s, goal_s, limit.cpu_s, cost.cpu_s / limit.cpu_s,
             static_cast<double>(usage.ru_maxrss) / 1024);
}

void execute(const Connection& connection, const std::string& sql) {
  char* message = nullptr;
  if (sqlite3_exec(connection.get(), sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK) return;
  fmt::print(stderr, "{}: {}\n", sql, message);
  std::exit(1);
}

Connection opened(const fs::path& file) {
  sqlite3* connection = nullptr;
  if (sqlite3_open(file.c_str(), &connection) != SQLITE_OK) std::exit(1);
  return Connection(connection);
}

/// The rows of the store into another one with the same indexes. Without a condition SQLite would copy the entries of tables and indexes
/// as they are, sorted already, which nobody can who has the rows alone.
Cost insert_limit(const fs::path& store, const fs::path& empty) {
  store::RunStore::open(empty, store::OpenMode::kReadWrite);
  const Connection connection = opened(empty);
  execute(connection, fmt::format("PRAGMA cache_size = -32768; ATTACH '{}' AS source", store.string()));
  return cost_of([&] {
    execute(connection, "BEGIN");
    for (const char* table : {"run", "rank", "step"})
      execute(connection, fmt::format("INSERT INTO main.{0} SELECT * FROM source.{0} WHERE true", table));
    execute(connection, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

/// All columns of the newest `runs` and of their ranks and steps.
Cost read_limit(const fs::path& store, int runs) {
  const Connection connection = opened(store);
  const std::string newest =
      fmt::format("SELECT run_key FROM run ORDER BY started_wall_ns DESC LIMIT {}", runs);
  return cost_of([&] {
    for (const char* table : {"run", "rank", "step"})
      execute(connection, fmt::format("SELECT * FROM {} WHERE run_key IN ({})", table, newest));
  });
}

int measure() {
  const test::TemporaryDirectory directory;
  const fs::path file = directory / "results.db";
  const std::string text = table_of(kRows);
  const Cost import = cost_of([&] {
    imports::import_runs(
        file, [&](const imports::TakeRun& take) { imports::read_table(text, "table.csv", {}, take); }, text, "table.csv");
  });
  print("import", import, insert_limit(file, directory / "copy.db"), 5);
  const Cost history = cost_of([&] {
    const auto store = store::RunStore::open(file, store::OpenMode::kReadOnly);
    analyzer::run_history(store, analyzer::RunMetric::kStepTime, {}, 5000);
  });
  print("history", history, read_limit(file, 5000), 1);
  return 0;
}

}  // namespace
}  // namespace ddbench

int main() {
  try {
    return ddbench::measure();
  } catch (const ddbench::Error& error) {
    fmt::print(stderr, "{}\n", error.message());
    return 1;
  }
}
