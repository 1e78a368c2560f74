#include "analyzer/comparison/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "analyzer/run/utilisation.h"
#include "core/error.h"
#include "stored_runs.h"
#include "synthetic_run.h"
#include "text.h"

namespace ddbench::analyzer {
namespace {

using test::add_run;
using test::contains;
using test::run_of;
using test::sized;
using test::StoredRun;

ComparedSide side(const store::RunStore& store, const std::vector<store::RunId>& ids) {
  ComparedSide result;
  result.meaning = "runs " + ids.front();
  for (const store::RunId& id : ids) result.runs.push_back(*store.run(id));
  return result;
}

TEST(Compare, RepetitionsDifferInNothing) {
  ScratchStore scratch;
  const auto a = add_run(scratch.get(), run_of(sized(1, 2), 100));
  const auto b = add_run(scratch.get(), run_of(sized(1, 2), 101));
  const Comparison comparison =
      compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  EXPECT_EQ(comparison.verdict, ComparisonVerdict::kRepetitions);
  EXPECT_TRUE(comparison.differences.empty());
  EXPECT_EQ(comparison.figures[0].name, "step time");
  EXPECT_NEAR(comparison.figures[0].ratio->value, 1.01, 1e-9);
  EXPECT_FALSE(comparison.figures[0].ratio->interval);
  EXPECT_TRUE(contains(comparison.notes.back(), "(--repeat 3)"));
  EXPECT_TRUE(contains(comparison.notes.back(), "may be noise"));
}

TEST(Compare, ARunOnBothSidesIsNoted) {
  ScratchStore scratch;
  const auto a = add_run(scratch.get(), run_of(sized(1, 2), 100));
  const auto b = add_run(scratch.get(), run_of(sized(1, 2), 101));
  const auto first_note = [&](const std::vector<store::RunId>& one, const std::vector<store::RunId>& other) {
    return compare_runs(scratch.get(), side(scratch.get(), one), side(scratch.get(), other)).notes.front();
  };
  EXPECT_EQ(first_note({a}, {a}), "A and B are the same run");
  EXPECT_EQ(first_note({a, b}, {b, a}), "A and B are the same 2 runs");
  EXPECT_EQ(first_note({a, b}, {b}), "1 run(s) are on both sides");
  EXPECT_FALSE(contains(first_note({a}, {b}), "both sides"));
}

TEST(Compare, TwoRepeatsASideGiveNoInterval) {
  ScratchStore scratch;
  std::vector<store::RunId> a, b;
  for (const double ms : {100.0, 101.0}) a.push_back(add_run(scratch.get(), run_of(sized(1, 2), ms)));
  b.push_back(add_run(scratch.get(), run_of(sized(1, 2), 102)));
  EXPECT_FALSE(
      compare_runs(scratch.get(), side(scratch.get(), a), side(scratch.get(), b)).figures[0].ratio->interval);
}

TEST(Compare, TheHistoryOfTheCaseGivesAnInterval) {
  ScratchStore scratch;
  for (const double ms : {98.0, 102.0, 99.0, 101.0, 100.0, 97.0, 103.0})
    add_run(scratch.get(), run_of(sized(1, 2), ms));
  add_run(scratch.get(), run_of(sized(2, 2), 500));  // another case
  const auto a = add_run(scratch.get(), run_of(sized(1, 2), 100));
  const auto b = add_run(scratch.get(), run_of(sized(1, 2), 104));
  const Comparison comparison =
      compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  const RunRatio& step = *comparison.figures[0].ratio;
  ASSERT_TRUE(step.interval) << step.interval.reason();
  EXPECT_EQ(step.interval->method, "Student's t, 2.2% between runs (7 other runs of the same case)");
  // t(0.975, 6) = 2.446912 of a difference of two runs.
  EXPECT_NEAR(std::log(step.interval->high / step.value), 2.446912 * 0.0216 * std::sqrt(2), 1e-3);
  EXPECT_LT(step.interval->low, 1);
  const RunRatio& rate = *comparison.figures[1].ratio;
  EXPECT_NEAR(rate.interval->low * step.interval->high, 1, 1e-9);
  EXPECT_FALSE(comparison.figures[2].ratio && comparison.figures[2].ratio->interval);
}

TEST(Compare, TwoRunsASideAreNoHistoryOfThemselves) {
  ScratchStore scratch;
  std::vector<store::RunId> a, b;
  for (const double ms : {100.0, 100.1}) a.push_back(add_run(scratch.get(), run_of(sized(1, 2), ms)));
  for (const double ms : {101.0, 101.1}) b.push_back(add_run(scratch.get(), run_of(sized(1, 2), ms)));
  const Comparison comparison = compare_runs(scratch.get(), side(scratch.get(), a), side(scratch.get(), b));
  EXPECT_FALSE(comparison.figures[0].ratio->interval);
  EXPECT_TRUE(contains(comparison.notes.back(), "may be noise"));
}

TEST(Compare, ATransferThatTheClocksDoNotResolveIsNotCompared) {
  ScratchStore scratch;
  StoredRun before = run_of(sized(2, 1), 100);
  before.collectives = {{"all_reduce", 0, 1000, 10, 400, 6000, 0, true}};
  StoredRun after = before;
  after.collectives[0].transfer_ns = 600;
  const auto a = add_run(scratch.get(), before);
  const auto b = add_run(scratch.get(), after);
  const Comparison comparison = compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  ASSERT_EQ(comparison.collectives.size(), 1u);
  EXPECT_TRUE(contains(comparison.collectives[0].a.reason(), "below clock resolution"));
  EXPECT_FALSE(comparison.collectives[0].ratio);
}

TEST(Compare, WhatIsFullyHiddenIsZeroAndNotMissing) {
  ScratchStore scratch;
  StoredRun hidden = run_of(sized(1, 2), 100);
  hidden.exposed_ms = 0;
  StoredRun exposed = run_of(sized(1, 2), 100);
  exposed.exposed_ms = 20;
  const auto a = add_run(scratch.get(), hidden);
  const auto b = add_run(scratch.get(), exposed);
  const Comparison comparison =
      compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  const auto figure = std::find_if(comparison.figures.begin(), comparison.figures.end(),
                                   [](const auto& f) { return f.name == "exposed communication"; });
  ASSERT_TRUE(figure->a);
  EXPECT_EQ(*figure->a, 0);
  EXPECT_NEAR(*figure->b, 20e6, 1);
  EXPECT_FALSE(figure->ratio);
}

TEST(Compare, WhatAnOlderRunDoesNotReportOfItsWorkIsNoDifference) {
  ScratchStore scratch;
  StoredRun older = run_of(sized(2, 1), 100);
  StoredRun newer = older;
  newer.facts["workload.gradient_bytes"] = "40, 4096";
  const std::vector<store::RunId> a{add_run(scratch.get(), older)}, b{add_run(scratch.get(), newer)};
  const Comparison comparison = compare_runs(scratch.get(), side(scratch.get(), a), side(scratch.get(), b));
  EXPECT_EQ(comparison.verdict, ComparisonVerdict::kRepetitions);
  EXPECT_TRUE(comparison.differences.empty());
}

TEST(Compare, OneChangeIsNamedAndItsConsequencesAreDistinguished) {
  ScratchStore scratch;
  std::vector<store::RunId> a, b;
  for (const double noise : {0.99, 1.0, 1.01}) {
    StoredRun fast = run_of(sized(2, 1), 100 * noise);
    fast.run_case.link = "1gbit";
    fast.network = "veth@1gbit";
    fast.exposed_ms = 20;
    StoredRun slow = run_of(sized(2, 1), 250 * noise);
    slow.run_case.link = "100mbit";
    slow.network = "veth@100mbit";
    slow.exposed_ms = 170;
    a.push_back(add_run(scratch.get(), fast));
    b.push_back(add_run(scratch.get(), slow));
  }
  const Comparison comparison = compare_runs(scratch.get(), side(scratch.get(), a), side(scratch.get(), b));
  EXPECT_EQ(comparison.verdict, ComparisonVerdict::kOneChange);
  EXPECT_EQ(comparison.verdict_text, "one change: link");
  ASSERT_EQ(comparison.differences.size(), 2u);
  EXPECT_EQ(comparison.differences[0].a, "1gbit");
  EXPECT_EQ(comparison.differences[1].role, FieldRole::kConsequence);
  const RunRatio& step = *comparison.figures[0].ratio;
  EXPECT_NEAR(step.value, 2.5, 1e-6);
  EXPECT_TRUE(step.interval->low < 2.5 && 2.5 < step.interval->high);
  EXPECT_TRUE(contains(step.interval->method, "Welch"));
  const auto part = std::find_if(comparison.parts.begin(), comparison.parts.end(),
                                 [](const ComparedFigure& p) { return p.name == "exposed_transfer"; });
  ASSERT_NE(part, comparison.parts.end());
  const double geometric = std::cbrt(0.99 * 1.01);  // over arithmetic mean of the steps
  EXPECT_NEAR(*part->a, 20e6 * geometric, 1);
  EXPECT_NEAR(*part->b, 170e6 * geometric, 1);
  double sum_a_ns = 0, sum_b_ns = 0;
  for (const ComparedFigure& each : comparison.parts) {
    sum_a_ns += *each.a;
    sum_b_ns += *each.b;
    if (each.ratio) {
      EXPECT_NEAR(each.ratio->value, *each.b / *each.a, 1e-9) << each.name;
    }
  }
  EXPECT_NEAR(sum_a_ns, *comparison.figures[0].a, 1);
  EXPECT_NEAR(sum_b_ns, *comparison.figures[0].b, 1);
  EXPECT_EQ(comparison_figure(comparison).series.size(), comparison.parts.size());
}

TEST(Compare, SeveralChangesAndOtherHardware) {
  ScratchStore scratch;
  const auto a = add_run(scratch.get(), run_of(sized(1, 2), 100));
  StoredRun other = run_of(sized(1, 2), 90);
  other.run_case.precision = "bf16";
  other.run_case.batch_per_gpu = 32;
  const auto b = add_run(scratch.get(), other);
  const Comparison several = compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  EXPECT_EQ(several.verdict, ComparisonVerdict::kSeveralChanges);
  EXPECT_TRUE(contains(several.verdict_text, "batch_per_gpu, precision"));

  store::RunRecord moved = *scratch.get().run(b);
  moved.environment.fingerprint = "ffff";
  moved.environment.facts["cpu.model"] = "another";
  moved.environment.facts["boot_id"] = "volatile";
  moved.environment.facts["counted.gpu.0.energy_j"] = "50";
  moved.environment.facts["counted.gpu.0.throttled"] = "too hot";
  scratch.get().update_run(moved);
  const Comparison hardware = compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  EXPECT_EQ(hardware.verdict, ComparisonVerdict::kOtherHardware);
  const auto named = [&](const std::string& field) {
    return std::any_of(hardware.differences.begin(), hardware.differences.end(),
                       [&](const FieldDifference& difference) { return difference.field == field; });
  };
  EXPECT_TRUE(named("fact cpu.model"));
  EXPECT_FALSE(named("fact boot_id"));
  EXPECT_FALSE(named("fact counted.gpu.0.energy_j"));
  EXPECT_TRUE(named("fact counted.gpu.0.throttled"));
}

TEST(Compare, WhatEachRunMeasuresAnewDiffersFromATenthOn) {
  const auto differs = [](const char* of_a, const char* of_b) {
    ScratchStore scratch;
    StoredRun run = run_of(sized(1, 2), 100);
    run.facts["device.gemm_peak_tflops"] = of_a;
    const auto a = add_run(scratch.get(), run);
    run.facts["device.gemm_peak_tflops"] = of_b;
    const auto b = add_run(scratch.get(), run);
    return !compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}))
                .differences.empty();
  };
  EXPECT_FALSE(differs("0.173", "0.172"));
  EXPECT_TRUE(differs("0.173", "0.140"));
}

TEST(Compare, DownToBucketAndKernel) {
  ScratchStore scratch;
  StoredRun before = run_of(sized(1, 2), 100);
  before.collectives = {{"all_reduce", 0, 1000, 10, 5000, 6000, 0, true},
                        {"all_reduce", 1, 2000, 10, 9000, 9500, 0, true}};
  before.kernels = {{"linear", "forward", 10, 20'000'000, 2'000'000},
                    {"relu", "forward", 10, 1'000'000, 200'000}};
  StoredRun after = before;
  after.collectives[1].transfer_ns = 18000;
  after.collectives.push_back({"broadcast", -1, 8, 1, 100, 100, 0, true});
  after.kernels[0].total_ns = 30'000'000;
  const auto a = add_run(scratch.get(), before);
  const auto b = add_run(scratch.get(), after);
  const Comparison comparison =
      compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  ASSERT_EQ(comparison.collectives.size(), 3u);
  EXPECT_EQ(comparison.collectives[1].name, "all_reduce bucket 1, 2000 bytes");
  EXPECT_EQ(comparison.collectives[1].short_name, "all_reduce bucket 1, 2.00 kB");
  EXPECT_NEAR(comparison.collectives[1].ratio->value, 2, 1e-9);
  EXPECT_EQ(comparison.collectives[2].name, "broadcast, 8 bytes");
  EXPECT_FALSE(comparison.collectives[2].a);
  EXPECT_FALSE(comparison.collectives[2].ratio);
  ASSERT_EQ(comparison.kernels.size(), 2u);
  EXPECT_EQ(comparison.kernels[0].name, "linear (forward)");
  EXPECT_NEAR(comparison.kernels[0].ratio->value, 1.5, 1e-9);
}

TEST(Compare, SizesThatLookTheSameStayApart) {
  ScratchStore scratch;
  StoredRun run = run_of(sized(1, 2), 100);
  run.collectives = {{"all_reduce", 0, 1'071'144, 10, 5000, 6000, 0, true}, {"all_reduce", 0, 1'071'148, 10, 9000, 9500, 0, true}};
  const auto a = add_run(scratch.get(), run);
  const auto b = add_run(scratch.get(), run);
  const Comparison comparison = compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
  ASSERT_EQ(comparison.collectives.size(), 2u);
  EXPECT_EQ(comparison.collectives[0].name, "all_reduce bucket 0, 1071144 bytes");
  EXPECT_EQ(comparison.collectives[1].name, "all_reduce bucket 0, 1071148 bytes");
  EXPECT_EQ(comparison.collectives[0].short_name, "");
}

TEST(Compare, ASideWithoutFiguresIsRefused) {
  ScratchStore scratch;
  const auto a = add_run(scratch.get(), run_of(sized(1, 2), 100));
  StoredRun failed = run_of(sized(1, 2), 100);
  failed.state = store::RunState::kFailed;
  failed.reason = "rank 1 was killed";
  const auto b = add_run(scratch.get(), failed);
  try {
    compare_runs(scratch.get(), side(scratch.get(), {a}), side(scratch.get(), {b}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_TRUE(contains(error.message(), "rank 1 was killed")) << error.message();
  }
}

}  // namespace
}  // namespace ddbench::analyzer
