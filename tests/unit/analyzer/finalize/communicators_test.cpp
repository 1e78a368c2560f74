#include "analyzer/attribution/communicators.h"

#include "analyzer/comparison/collective_curves.h"
#include "analyzer/run/run_summary.h"
#include "core/name_table.h"
#include "core/run_case/program_case.h"
#include "finalize_fixture.h"

namespace ddbench::analyzer {
namespace {

TEST(RanksInWords, DrawsTogetherWhatHasOneDistance) {
  const auto words = [](std::vector<int> ranks) { return ranks_in_words(ranks); };
  EXPECT_EQ(words({}), "");
  EXPECT_EQ(words({5}), "5");
  EXPECT_EQ(words({0, 1}), "0-1");
  EXPECT_EQ(words({0, 2}), "0,2");
  EXPECT_EQ(words({0, 2, 4, 6}), "0-6 by 2");
  EXPECT_EQ(words({0, 1, 2, 3, 8, 9}), "0-3,8-9");
  EXPECT_EQ(words({0, 4, 5, 6}), "0,4-6");
}

TEST(CommunicatorMembers, KnowsWhoAWholeCollectiveNeeds) {
  CommunicatorMembers members(4);
  const auto key = collective_key(7, 1);
  EXPECT_EQ(members.expected(key), 4u) << "ranks that were not seen may belong to any";
  for (const std::size_t rank : {0, 1}) members.add(key, rank, 10);
  EXPECT_EQ(members.expected(key), 4u);
  for (const std::size_t rank : {2, 3}) members.add(collective_key(8, 1), rank, 10);
  EXPECT_EQ(members.expected(key), 2u);
  const std::vector<std::string> names = {communicator_size_name({7, 3})};
  members.add_names(names);
  EXPECT_EQ(members.expected(key), 3u) << "a rank that recorded nothing of it belongs to it";
}

/// A program on four ranks: all reduce in communicator 0, and each half in one of its own.
class FourRanks : public FinalizeRun {
 protected:
  FourRanks() {
    run_.set_world(2, 2);
    set_program(run_.run_case, {"train"});
  }

  /// `number_of` a rank's half, `sizes` what it reports.
  template <typename NumberOf>
  void store_halves(NumberOf&& number_of, const std::vector<CommunicatorSize>& sizes) {
    run_.store_into(store());
    std::vector<std::string> names = kSyntheticNames;
    for (const CommunicatorSize& size : sizes) names.push_back(communicator_size_name(size));
    for (int rank = 0; rank < 4; ++rank) {
      std::vector<Span> more;
      for (Span span : run_.spans_of(rank)) {
        if (span.kind != SpanKind::kCommunication) continue;
        span.correlation = collective_key(number_of(rank), span.step + 1);
        span.bucket = kNoBucket;
        more.push_back(span);
      }
      store().append_spans(run_.id, rank, more, names);
    }
    finalize_run(store(), run_.id);
  }
};

TEST_F(FourRanks, GroupsHaveRowsAndBusBandwidthsOfTheirOwn) {
  store_halves([](int rank) { return static_cast<std::uint16_t>(rank < 2 ? 7 : 8); }, {{0, 4}, {7, 2}, {8, 2}});
  const RunSummary summary = summarize(store(), run_.id);
  ASSERT_EQ(summary.collectives.size(), 3u);
  EXPECT_EQ(summary.collectives[0].communicator, "ranks 0-1");
  EXPECT_EQ(summary.collectives[1].communicator, "ranks 2-3");
  EXPECT_EQ(summary.collectives[2].communicator, "");
  const double algbw = 4e6 / 20e3;  // the same bytes and time in each
  for (const CollectiveSummary& collective : summary.collectives) {
    EXPECT_EQ(collective.record.count, 30u);
    EXPECT_DOUBLE_EQ(*collective.algbw_gb_per_s, algbw);
  }
  EXPECT_EQ(summary.collectives[0].record.communicator, (store::CommunicatorRecord{2, "0-1", 0}));
  EXPECT_DOUBLE_EQ(*summary.collectives[0].busbw_gb_per_s, algbw);        // 2 (2 - 1) / 2
  EXPECT_DOUBLE_EQ(*summary.collectives[2].busbw_gb_per_s, 1.5 * algbw);  // 2 (4 - 1) / 4
  EXPECT_TRUE(names_communicators(summary));
  for (const store::StepRecord& step : store().steps(run_.id)) EXPECT_EQ(step.peer_wait_uncertainty_ns, 0) << "one clock";

  const CollectiveCurves curves = collective_curves(std::vector{summary});
  ASSERT_EQ(curves.curves.size(), 3u) << "no two communicators make one curve";
  EXPECT_EQ(curves.curves[0].ranks, 4);
  EXPECT_EQ(curves.curves[1].ranks, 2);
  EXPECT_EQ(curves.curves[1].label, "2 × 2, veth, ranks 0-1");
}

TEST_F(FourRanks, TwoCommunicatorsOfTheSameRanksAreTwoRows) {
  store_halves([](int) { return std::uint16_t{7}; }, {{0, 4}, {7, 4}});
  const RunSummary summary = summarize(store(), run_.id);
  ASSERT_EQ(summary.collectives.size(), 2u);
  EXPECT_EQ(summary.collectives[0].record.communicator.place + summary.collectives[1].record.communicator.place, 1);
}

TEST_F(FourRanks, AnUnknownSizeGivesNoBusBandwidth) {
  store_halves([](int rank) { return static_cast<std::uint16_t>(rank < 2 ? 7 : 8); }, {{0, 4}, {7, 2}, {7, 3}});
  const RunSummary summary = summarize(store(), run_.id);
  ASSERT_EQ(summary.collectives.size(), 3u);
  for (const int i : {0, 1}) {
    const CollectiveSummary& group = summary.collectives[static_cast<std::size_t>(i)];
    EXPECT_EQ(group.record.communicator.ranks, 0) << "reported as 2 and as 3, or not at all";
    EXPECT_TRUE(group.algbw_gb_per_s);
    ASSERT_FALSE(group.busbw_gb_per_s);
    EXPECT_EQ(group.busbw_gb_per_s.reason(),
              "the size of the communicator is not known: its ranks reported none, or different ones");
  }
  EXPECT_EQ(summary.collectives[0].communicator, "ranks 0-1, size not known");
  EXPECT_TRUE(summary.collectives[2].busbw_gb_per_s);
}

TEST_F(FourRanks, GroupsWithOneNumberAreCountedAndNotJoined) {
  store_halves([](int) { return std::uint16_t{7}; }, {{0, 4}, {7, 2}});  // as contexts of Gloo's may be
  const RunSummary summary = summarize(store(), run_.id);
  ASSERT_EQ(summary.collectives.size(), 1u) << "four ranks are no communicator of two";
  EXPECT_EQ(get_fact(stored().environment.facts, fact_key<"analysis.incomplete_collectives">).value_or(0), 30);
}

TEST_F(FinalizeRun, AReferenceWorkloadHasOneCommunicatorOfAllRanks) {
  finalize();
  EXPECT_EQ(store().collectives(run_.id).at(0).communicator, (store::CommunicatorRecord{2, "", 0}));
}

}  // namespace
}  // namespace ddbench::analyzer
