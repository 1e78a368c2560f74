#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// Fuzz targets. Each takes any bytes as its input and returns; an Error is an answer like any other. What escapes as
/// another exception, or what a sanitizer reports, is a finding. libfuzzer_main.cpp calls one of them for libFuzzer,
/// corpus_test.cpp all of them for the files in corpus/.
namespace ddbench::fuzz {

using Bytes = std::span<const std::uint8_t>;

struct Target {
  std::string_view name;  ///< of its folder in corpus/, and of the executable fuzz_<name>
  void (*run)(Bytes input);
  /// Where checksums guard the input: sets them to what the other bytes need, after libFuzzer changed those.
  void (*reseal)(std::span<std::uint8_t> input) = nullptr;
  /// Changes an input of `size` bytes in `room`, whose end it must not pass, in the terms of this target; returns the new size. For
  /// targets of which libFuzzer's own changes seldom make another input that means anything.
  std::size_t (*mutate)(std::span<std::uint8_t> room, std::size_t size, unsigned seed) = nullptr;
};

/// A spool file, read as that of two ranks of an engine run and of a program, up to the rows of the store.
extern const Target kSpools;
/// The payload of a control message, from a rank or from the launcher.
extern const Target kMessages;
/// A stored chunk of spans.
extern const Target kSpanChunks;
/// What `ddbench import flight-recorder` reads: pickle or JSON.
extern const Target kFlightRecorder;
/// What `ddbench import kineto` reads: JSON, or gzip of it.
extern const Target kKineto;
/// What `ddbench import horovod` reads: a Chrome trace.
extern const Target kHorovod;
/// What `ddbench import nccl-ras` reads: JSON.
extern const Target kNcclRas;
/// What `ddbench import nsys` reads: an SQLite file.
extern const Target kNsys;
/// What `ddbench import nccl-tests` reads: text or JSON.
extern const Target kNcclTests;
/// What `ddbench import log` and `import mlperf` read.
extern const Target kTrainingLogs;
/// What `ddbench import nccl-inspector` reads: JSON lines.
extern const Target kNcclInspector;
/// What `ddbench import table` reads: CSV.
extern const Target kTables;
/// SKU catalogues and gate policies.
extern const Target kToml;
/// A stored RunCase.
extern const Target kRunCases;
/// A checkpoint's file.
extern const Target kSafetensors;
/// A log of NCCL's.
extern const Target kNcclLogs;

/// The file that `ddbench import` is given without a format.
extern const Target kRecognise;
/// What schedulers, their variables, templates, ds_config.json, prices and tracking servers say; the first letter is which.
extern const Target kJobTexts;
/// Flight recorders of processes in a hang.
extern const Target kFlights;
/// A store of somebody else, with any values in its rows: merged, checked, reported and pruned beside folders of others.
extern const Target kStores;
/// The launcher, with ranks that send anything, with and without the run's secret.
extern const Target kHostileRanks;
/// A rank, with a launcher that sends anything.
extern const Target kHostileLaunchers;
/// NCCL's calls of the profiler plug-in.
extern const Target kNcclCalls;
#ifdef DDBENCH_FUZZ_CUPTI
/// CUPTI's records for the probe of kernels.
extern const Target kCuptiRecords;
#endif

inline constexpr const Target* kTargets[] = {&kSpools,    &kMessages, &kSpanChunks,    &kKineto,        &kNsys,   &kHorovod, &kFlightRecorder,
                                             &kNcclTests, &kNcclRas,  &kTrainingLogs, &kNcclInspector, &kTables, &kToml,    &kRunCases,
                                             &kSafetensors, &kNcclLogs, &kRecognise, &kJobTexts,   &kFlights, &kStores,
                                             &kHostileRanks, &kHostileLaunchers, &kNcclCalls,
#ifdef DDBENCH_FUZZ_CUPTI
                                             &kCuptiRecords,
#endif
};

inline std::string_view text_of(Bytes input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

}  // namespace ddbench::fuzz
