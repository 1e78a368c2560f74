#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "large_store.h"

// The real executable on one core, on a store with 1,000 runs and 10 million spans. Goals: 2 s, 500 MB.
// DDBENCH_BENCH_STORE names a store to use (made when it is missing), else one is made and removed again.

namespace {

namespace fs = std::filesystem;

class Stores {
 public:
  Stores() {
    std::string name = (fs::temp_directory_path() / "ddbench-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    directory_ = name;
    const char* kept = std::getenv("DDBENCH_BENCH_STORE");
    large_ = kept == nullptr ? directory_ / "large.db" : fs::path(kept);
    if (!fs::exists(large_)) {
      std::fprintf(stderr, "making a store of 1,000 runs and 10 million spans ...\n");
      ddbench::test::make_large_store(large_);
    }
    ddbench::test::make_large_table(directory_ / "table.csv", 1000);
  }
  ~Stores() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  Stores(const Stores&) = delete;
  Stores& operator=(const Stores&) = delete;

  const fs::path& large() const { return large_; }
  fs::path file(const char* name) const { return directory_ / name; }
  void remove(const char* name) const {
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(directory_ / (std::string(name) + suffix));
  }

 private:
  fs::path directory_;
  fs::path large_;
};

Stores& stores() {
  static Stores instance;
  return instance;
}

[[noreturn]] void become(const std::vector<std::string>& arguments) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ::sched_setaffinity(0, sizeof one, &one);
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  std::_Exit(127);
}

/// Runs it once, and counts its time and memory. `prepare` is not counted.
void run_command(benchmark::State& state, std::vector<std::string> arguments,
                 const std::function<void()>& prepare) {
  arguments.insert(arguments.begin(), DDBENCH_EXECUTABLE);
  double peak_mb = 0;
  for (auto _ : state) {
    prepare();
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) become(arguments);
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    peak_mb = std::max(peak_mb, static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      state.SkipWithError("the command failed");
      break;
    }
  }
  state.counters["peak_MB"] = peak_mb;
}

void add(
    const char* name, std::vector<std::string> arguments, std::function<void()> prepare = [] {}) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { run_command(state, arguments, prepare); })
      ->UseManualTime()
      ->Iterations(3)
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  const std::string large = stores().large().string();
  const std::string other = stores().file("other.db").string();
  const auto without_other = [] { stores().remove("other.db"); };
  add("scaling_of_all_runs", {"scaling", "--where", "name=nightly,link=10gbit", "--db", large});
  add("scaling_of_a_sweep",
      {"scaling", "--sweep", "sweep-3", "--where", "link=1gbit", "--json", "--db", large});
  add("compare_two_groups", {"compare", "link=10gbit,nodes=4", "link=1gbit,nodes=4", "--db", large});
  add("compare_by_link", {"compare", "--by", "link", "--db", large});
  add("list_all_runs", {"list", "--limit", "0", "--db", large});
  add("show_last", {"show", "--db", large});
  add("history", {"history", "--db", large});
  add("gate", {"gate", "--baseline", "link=10gbit,nodes=4,sweep=sweep-3", "--candidate",
               "link=10gbit,nodes=4,sweep=sweep-4", "--db", large});
  add("batch_of_all_runs", {"batch", "--where", "name=nightly", "--db", large});
  add("report_of_a_sweep",
      {"report", "sweep-3", "--format", "html", "-o", stores().file("page.html").string(), "--db", large});
  add("trace_of_a_run",
      {"report", "last", "--format", "perfetto", "-o", stores().file("trace").string(), "--db", large});
  add("import_table_of_1000_rows", {"import", "table", stores().file("table.csv").string(), "--db", other},
      without_other);
  add("db_check", {"db", "check", "--db", large});
  add("db_merge_into_a_new_store", {"db", "merge", large, "--db", other}, without_other);
  add("db_merge_again", {"db", "merge", large, "--db", other});
  add("db_export_a_tenth", {"db", "export", other, "--where", "sweep=sweep-3", "--db", large}, without_other);
  const auto copy = [=] { fs::copy_file(large, other, fs::copy_options::overwrite_existing); };
  add("db_prune_a_tenth", {"db", "prune", "--sweep", "sweep-3", "--yes", "--db", other}, copy);
  add("db_prune_all_spans", {"db", "prune", "--where", "name=nightly", "--spans", "--yes", "--db", other},
      copy);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
