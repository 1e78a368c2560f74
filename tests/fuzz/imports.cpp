// Files from users: figures measured elsewhere, catalogues, policies, run cases, logs.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/gate/gate_policy.h"
#include "analyzer/catalogue/sku_catalogue.h"
#include "harness/collective/nccl_log.h"
#include "analyzer/import/flight_recorder/dump.h"
#include "analyzer/diagnose/hang/hang.h"
#include "analyzer/import/horovod/horovod.h"
#include "analyzer/import/kineto/rank_reader.h"
#include "analyzer/import/nccl_inspector/nccl_inspector.h"
#include "analyzer/import/nccl_ras/nccl_ras.h"
#include "analyzer/import/nccl_tests/nccl_tests.h"
#include "analyzer/import/nsys/nsys.h"
#include "analyzer/import/table/table.h"
#include "analyzer/import/trace/align_clocks.h"
#include "analyzer/import/trace/job.h"
#include "analyzer/import/trace/placement.h"
#include "analyzer/import/training_log/training_log.h"
#include "core/error.h"
#include "core/run_case/run_case.h"
#include "core/unique_handle.h"
#include "fuzz_targets.h"
#include "temporary_directory.h"

namespace ddbench::fuzz {
namespace {

/// Bad input is an answer, but no other failure is.
template <typename Read>
void expect_bad_input_at_most(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) std::abort();
  }
}

/// The input as a file without a name on any disk.
template <typename Read>
void with_file(Bytes input, const Read& read) {
  const UniqueFd memory(::memfd_create("trace", MFD_CLOEXEC));
  if (memory.get() < 0 || ::write(memory.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size()))
    std::abort();
  read("/proc/self/fd/" + std::to_string(memory.get()));
}

void read_nccl_tests(Bytes input) {
  expect_bad_input_at_most([&] { imports::read_nccl_tests(text_of(input), "file", {}); });
  expect_bad_input_at_most([&] {
    imports::NcclTestsOptions options;
    options.function = "all_reduce";
    options.ranks = 8;
    imports::read_nccl_tests(text_of(input), "file", options);
  });
}

void read_table(Bytes input) {
  expect_bad_input_at_most([&] { imports::read_table(text_of(input), "file", {}, [](imports::ImportedRun&&) {}); });
}

void read_training_logs(Bytes input) {
  using imports::LogFormat;
  imports::TrainingLogOptions options;
  options.gpus = 8;
  options.global_batch = 64;
  options.regex = "([0-9]+) ([0-9.]+)";
  options.groups = "step,step_time_ms";
  for (const LogFormat format : {LogFormat::kMegatron, LogFormat::kDeepSpeed, LogFormat::kTorchTitan, LogFormat::kComposer,
                                 LogFormat::kMlperf, LogFormat::kRegex})
    expect_bad_input_at_most([&] { imports::read_training_log(text_of(input), "file", format, options); });
}

void read_nccl_inspector(Bytes input) {
  with_file(input, [](const std::string& file) {
    expect_bad_input_at_most([&] { imports::read_nccl_inspector({file}, "job"); });
  });
}

void read_nccl_ras(Bytes input) {
  expect_bad_input_at_most([&] { imports::read_nccl_ras(text_of(input), "file", "job"); });
}

void read_toml(Bytes input) {
  expect_bad_input_at_most([&] { analyzer::parse_policy(text_of(input), "file"); });
  expect_bad_input_at_most([&] {
    analyzer::SkuCatalogue catalogue;
    catalogue.apply(text_of(input), "file");
  });
}

void read_run_case(Bytes input) {
  expect_bad_input_at_most([&] {
    const RunCase run_case = run_case_from_json(text_of(input));
    if (to_json(run_case_from_json(to_json(run_case))) != to_json(run_case)) std::abort();
    validate(run_case);
    static_cast<void>(run_case.global_batch() + run_case.total_steps());
  });
}

void read_nccl_log(Bytes input) {
  collective::NcclTransports transports;
  transports.add(text_of(input));
  static_cast<void>(transports.text());
}

/// Up to what is stored of it.
void read_job(std::vector<imports::RankTrace> traces) {
  imports::TraceJob job = imports::put_together(std::move(traces));
  static_cast<void>(imports::find_placement(job, 0));
  imports::keep_common_steps(job);
  imports::shift_to_begin(job);
  imports::number_collectives(job);
  static_cast<void>(imports::align_clocks(job));
}

void read_kineto(Bytes input) {
  with_file(input, [](const std::string& file) {
    expect_bad_input_at_most([&] {
      std::vector<imports::RankTrace> traces;
      traces.push_back(imports::read_rank_trace(file));
      read_job(std::move(traces));
    });
  });
}

void read_horovod(Bytes input) {
  with_file(input, [](const std::string& file) {
    expect_bad_input_at_most([&] {
      std::vector<imports::RankTrace> traces;
      traces.push_back(imports::horovod_trace(imports::read_horovod_timeline(file), file, {}));
      read_job(std::move(traces));
    });
  });
}

/// SQLite wants a file with a name.
void read_nsys(Bytes input) {
  const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "export.sqlite";
  std::ofstream(file, std::ios::binary) << text_of(input);
  expect_bad_input_at_most([&] {
    std::vector<std::vector<imports::NsysRank>> files;
    files.push_back(imports::read_nsys_export(file, "step"));
    read_job(imports::number_nsys_ranks(std::move(files)));
  });
}

void read_flight_dump(Bytes input) {
  expect_bad_input_at_most([&] {
    std::vector<imports::FlightDump> dumps(2, imports::read_flight_dump(text_of(input), "file"));
    dumps[0].rank = 0;
    dumps[1].rank = 1;
    static_cast<void>(analyzer::find_hang(dumps));
  });
}

}  // namespace

const Target kFlightRecorder{"flight_recorder", read_flight_dump};
const Target kKineto{"kineto", read_kineto};
const Target kHorovod{"horovod", read_horovod};
const Target kNcclRas{"nccl_ras", read_nccl_ras};
const Target kNsys{"nsys", read_nsys};
const Target kNcclTests{"nccl_tests", read_nccl_tests};
const Target kTrainingLogs{"training_logs", read_training_logs};
const Target kNcclInspector{"nccl_inspector", read_nccl_inspector};
const Target kTables{"tables", read_table};
const Target kToml{"toml", read_toml};
const Target kRunCases{"run_cases", read_run_case};
const Target kNcclLogs{"nccl_logs", read_nccl_log};

}  // namespace ddbench::fuzz
