#include "analyzer/import/nccl_tests/nccl_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/collectives/bus_factor.h"
#include "analyzer/import/nccl_tests/nccl_results.h"
#include "analyzer/import/numbers.h"
#include "analyzer/run/run_summary.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/program_case.h"

namespace ddbench::imports {
namespace {

constexpr double kBusbwTolerance = 0.05;   // figures are printed with two decimals
constexpr double kPreciseBandwidth = 0.5;  // GB/s: below it two decimals are too few for the check
constexpr double kLongest_us = 1e12;
constexpr double kLargest_bytes = 1e18;

[[noreturn]] void fail(const std::string& origin, const std::string& what) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", origin, what), 0, origin);
}

/// As nccl-tests have it; -1 when the collective has no factor. Of gather and scatter ddbench itself defines none.
double bus_factor_or_none(const std::string& function, int ranks) {
  if (function == "gather" || function == "scatter") return analyzer::bus_factor("all_to_all", ranks);
  if (function == "hypercube") return 1;
  try {
    return analyzer::bus_factor(function, ranks);
  } catch (const Error&) {
    return -1;
  }
}

void check_factor(const NcclMeasurement& measured, const NcclResults& results, const std::string& origin) {
  const double factor = bus_factor_or_none(results.function, results.ranks);
  if (factor < 0 || measured.algbw < kPreciseBandwidth) return;
  const double expected = measured.algbw * factor;
  if (std::abs(measured.busbw - expected) <= kBusbwTolerance * expected + 0.01) return;
  fail(origin,
       fmt::format(
           "{}: busbw is {}, but {} on {} ranks with an algbw of {} has {:.2f}: give the right --function "
           "and --ranks",
           measured.where, measured.busbw, results.function, results.ranks, measured.algbw, expected));
}

void set_machine(const NcclResults& results, const std::string& origin, store::RunRecord& run) {
  std::map<std::string, int> hosts;
  for (const std::string& host : results.hosts) ++hosts[host];
  const int nodes = std::max<int>(1, static_cast<int>(hosts.size()));
  const bool alike = std::all_of(hosts.begin(), hosts.end(),
                                 [&](const auto& host) { return host.second == hosts.begin()->second; });
  if (!alike || results.ranks % nodes != 0) {
    fail(origin,
         fmt::format("{} ranks on {} hosts are not the same number on each: such a run cannot be stored",
                     results.ranks, nodes));
  }
  run.run_case.nodes = nodes;
  run.run_case.gpus_per_node = results.ranks / nodes;
  const bool is_any_known = std::any_of(hosts.begin(), hosts.end(), [](const auto& host) { return !host.first.empty() && host.first != "unknown"; });
  if (!is_any_known) set_unplaced(run.run_case, results.ranks);
  const std::set<std::string> models(results.models.begin(), results.models.end());
  std::string all;
  for (const std::string& model : models) {
    if (!model.empty()) all += (all.empty() ? "" : ", ") + model;
  }
  if (all.empty()) return;
  set_fact(run.environment.facts, fact_key_of<"gpu.*.model">(0), all);
  run.environment.fingerprint = hash_text("gpu " + all);
}

ImportedRun run_of(const NcclResults& results, const std::vector<NcclMeasurement>& measurements,
                   const char* place, const NcclTestsOptions& options, const std::string& origin) {
  ImportedRun imported;
  store::RunRecord& run = imported.run;
  run.state = store::RunState::kDone;
  run.provenance = {Provenance::kImported};
  run.environment.network = options.network;
  RunCase& run_case = run.run_case;
  run_case.work = NcclTests{.function = results.function, .place = place, .redop = results.redop, .type = results.type};
  run_case.device = "cuda";
  run_case.backend = "nccl";
  run_case.precision = results.type;
  run_case.strategy = run_case.optimizer = "";  // nothing is trained
  run_case.batch_per_gpu = 1;
  run_case.steps = 1;
  run_case.warmup = 0;
  run_case.sku = options.sku;
  set_machine(results, origin, run);
  for (const NcclMeasurement& measured : measurements) {
    check_factor(measured, results, origin);
    if (!(measured.time_us > 0) || measured.time_us > kLongest_us || measured.bytes > kLargest_bytes) {
      fail(origin, fmt::format("{}: {} us for {} bytes cannot be stored", measured.where, measured.time_us,
                               measured.bytes));
    }
    const auto time_ns = static_cast<std::int64_t>(std::llround(measured.time_us * 1e3));
    imported.collectives.push_back({results.function, -1, static_cast<std::uint64_t>(measured.bytes),
                                    static_cast<std::uint64_t>(results.iterations), time_ns, time_ns, 0,
                                    false});
    imported.collectives.back().communicator.ranks = results.ranks;
    if (measured.wrong.value_or(0) > 0 && run.valid) {
      run.valid = false;
      run.invalid_reason = fmt::format("{}: {:.0f} wrong elements in the result of {:.0f} bytes",
                                       measured.where, *measured.wrong, measured.bytes);
    }
  }
  validate(run_case);
  return imported;
}

void add_runs(const NcclResults& test, const NcclTestsOptions& options, const std::string& origin,
              std::vector<ImportedRun>& runs) {
  if (test.function.empty())
    fail(origin, "it is not said which collective this is: give --function, such as all_reduce");
  if (test.ranks < 1) fail(origin, "it is not said how many ranks took part: give --ranks");
  if (!test.out_of_place.empty()) runs.push_back(run_of(test, test.out_of_place, "out_of_place", options, origin));
  if (!test.in_place.empty()) runs.push_back(run_of(test, test.in_place, "in_place", options, origin));
}

}  // namespace

std::vector<ImportedRun> read_nccl_tests(std::string_view text, const std::string& origin,
                                         const NcclTestsOptions& options) {
  const bool json = !trimmed(text).empty() && trimmed(text).front() == '{';
  std::vector<NcclResults> tests =
      json ? std::vector{read_nccl_json(text, origin)} : read_nccl_text(text, origin);
  const std::size_t all = tests.size();
  std::erase_if(tests, [](const NcclResults& test) { return test.out_of_place.empty() && test.in_place.empty(); });
  if (tests.empty()) {
    fail(origin, "there are no results: this is not what nccl-tests print, or the test broke off");
  }
  std::vector<ImportedRun> runs;
  for (NcclResults& test : tests) {
    if (!options.function.empty() && (all == 1 || test.function.empty())) test.function = options.function;
    if (options.ranks > 0) test.ranks = options.ranks;
    add_runs(test, options, origin, runs);
  }
  if (tests.size() == all) return runs;
  for (ImportedRun& run : runs) {
    set_fact(run.run.environment.facts, fact_key_of<"note.*">(1),
             fmt::format("{} of {} tests in the file gave no results", all - tests.size(), all));
  }
  return runs;
}

}  // namespace ddbench::imports
