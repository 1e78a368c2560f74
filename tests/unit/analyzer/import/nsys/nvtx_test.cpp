#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/import/nsys/nsys.h"
#include "analyzer/import/nsys/nvtx_text.h"
#include "analyzer/import/nsys/step_ranges.h"
#include "expect_error.h"

namespace ddbench::imports {
namespace {

TEST(NvtxText, OperatorsOfEmitNvtxHaveANameAndANumber) {
  const NvtxText text = parse_nvtx_text("aten::mm, seq = 12, op_id = 345, sizes = [[2, 3], [3, 4]]");
  EXPECT_EQ(text.name, "aten::mm");
  EXPECT_EQ(text.sequence, 12u);
  EXPECT_EQ(parse_nvtx_text("aten::add, op_id = 317173").name, "aten::add");
  EXPECT_FALSE(parse_nvtx_text("aten::add, op_id = 317173").sequence);
  EXPECT_EQ(parse_nvtx_text("forward, of layer 3").name, "forward, of layer 3");
  EXPECT_FALSE(parse_nvtx_text("a, seq = -1").sequence);
  EXPECT_FALSE(parse_nvtx_text("a, seq = 99999999999999999999").sequence);
}

std::vector<std::uint64_t> steps_of(const std::string& name, const std::vector<std::pair<const char*, int>>& texts) {
  StepRanges ranges(name);
  for (const auto& [text, begin] : texts) {
    TraceEvent event;
    event.name = text;
    event.begin_ns = begin;
    event.end_ns = begin + 10;
    if (ranges.marks_step(text)) ranges.add(event);
  }
  RankBuilder builder("file");
  ranges.add_to(builder);
  std::vector<std::uint64_t> numbers;
  for (const Span& step : builder.finish().steps) numbers.push_back(step.bytes);
  return numbers;
}

TEST(StepRanges, AreNumberedByTheirTextsOrElseByTheirOrder) {
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(steps_of("step", {{"step 7", 20}, {"step 6", 0}, {"stepper", 40}, {"step_x", 60}}), (Numbers{6, 7}));
  EXPECT_EQ(steps_of("iteration", {{"iteration[3]", 0}, {"iteration[4]", 20}}), (Numbers{3, 4}));
  EXPECT_EQ(steps_of("train", {{"train", 0}, {"train", 20}}), (Numbers{0, 1}));
  EXPECT_EQ(steps_of("step", {{"step 1", 0}, {"step 1", 20}}), (Numbers{0, 1})) << "the same number twice says nothing";
  EXPECT_EQ(steps_of("", {{"ProfilerStep#5", 0}, {"ProfilerStep#6", 10}}), (Numbers{5, 6}));
  EXPECT_EQ(steps_of("step", {{"step 1", 0}, {"step 2", 5}, {"step 3", 10}}), (Numbers{1, 3})) << "2 lies in 1";
}

std::vector<NsysRank> machine(const char* file, std::vector<std::map<std::uint64_t, NsysCommunicator>> processes) {
  std::vector<NsysRank> ranks;
  for (auto& communicators : processes) {
    NsysRank& rank = ranks.emplace_back();
    rank.trace.file = file;
    rank.communicators = std::move(communicators);
  }
  return ranks;
}

std::vector<int> ranks_of(std::vector<std::vector<NsysRank>> files) {
  std::vector<int> ranks;
  for (const RankTrace& trace : number_nsys_ranks(std::move(files))) ranks.push_back(trace.info.rank.value_or(-1));
  return ranks;
}

TEST(NsysRanks, AreThoseOfTheLargestCommunicatorThatAllAreIn) {
  using Ranks = std::vector<int>;
  EXPECT_EQ(ranks_of({machine("b.sqlite", {{{1, {1, 4}}, {7, {0, 2}}}, {{1, {3, 4}}, {8, {0, 2}}}})}), (Ranks{1, 3}));
  EXPECT_EQ(ranks_of({machine("x_rank3.sqlite", {{}}), machine("x_rank1.sqlite", {{}})}), (Ranks{3, 1}));
  EXPECT_EQ(ranks_of({machine("n0_rank3.sqlite", {{}, {}}), machine("n1.sqlite", {{}})}), (Ranks{0, 1, 2}));
}

TEST(NsysRanks, ProcessesThatWorkBesideTheJobAreNone) {
  std::vector<std::vector<NsysRank>> files = {machine("a.sqlite", {{{1, {0, 2}}}, {{1, {1, 2}}}, {}, {}})};
  for (int i = 0; i < 3; ++i) files[0][static_cast<std::size_t>(i)].trace.kernels = 10;
  files[0][2].pid = 77;           // kernels, and no communication
  files[0][3].pid = 78;           // copies alone
  files[0][3].why_no_steps = "x";  // a helper needs no steps
  const std::vector<RankTrace> traces = number_nsys_ranks(std::move(files));
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[1].info.rank, 1);
  EXPECT_TRUE(test::contains(traces[0].notes.at(0), "left out: 77 of a.sqlite, 78 of a.sqlite")) << traces[0].notes.at(0);
}

TEST(NsysRanks, ARankWithoutACommunicatorThatRunsNcclIsOne) {
  std::vector<std::vector<NsysRank>> files = {machine("a.sqlite", {{{1, {0, 3}}}, {{1, {1, 3}}}, {}})};
  for (NsysRank& rank : files[0]) rank.trace.kernels = 10;
  files[0][2].trace.collectives.resize(1);  // its communicator was made before the recording
  EXPECT_EQ(number_nsys_ranks(files).size(), 3u);
  files[0][2].why_no_steps = "process 3 has no NVTX range step";
  EXPECT_ERROR(ErrorCode::kBadInput, "a.sqlite: process 3 has no NVTX range step", number_nsys_ranks(files));
}

}  // namespace
}  // namespace ddbench::imports
