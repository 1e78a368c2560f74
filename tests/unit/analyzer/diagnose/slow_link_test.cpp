// Links of known rates between nodes: which one is named, since when, and when none is.
#include "analyzer/diagnose/link/slow_link.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>

namespace ddbench::analyzer {
namespace {

using Kind = SlowLink::Kind;
/// Bytes a nanosecond from one node to another at a step; 0: nothing is sent.
using RateOf = std::function<double(int from, int to, std::uint32_t step)>;

constexpr double kBytes = 4e6;  // a step and direction
constexpr double kQuick = 0.1;

std::vector<LinkUse> uses_of(int nodes, const RateOf& rate_of, double noise = 0.15, std::uint32_t steps = 200) {
  std::mt19937 random(7);
  std::normal_distribution<double> chance(1, noise);
  std::vector<LinkUse> uses;
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      if (from == to || rate_of(from, to, 0) == 0) continue;
      LinkUse use{from, to, from, to, {{0, 0, 0}}};
      for (std::uint32_t step = 8; step <= steps; step += 8) {
        const double bytes = use.readings.back().bytes + 8 * kBytes;
        const double busy_ns = 8 * kBytes / rate_of(from, to, step) * std::max(0.3, chance(random));
        use.readings.push_back({step, bytes, use.readings.back().busy_ns + busy_ns});
      }
      uses.push_back(use);
    }
  }
  return uses;
}

RateOf ring(int nodes, const RateOf& rate_of) {
  return [=](int from, int to, std::uint32_t step) { return to == (from + nodes - 1) % nodes ? rate_of(from, to, step) : 0; };
}

std::optional<SlowLink> found_in(int nodes, const RateOf& rate_of) { return find_slow_link(link_table(uses_of(nodes, rate_of))); }

TEST(SlowLink, OfANodeIsNamedInARingWhichMakesAllRanksWaitAlike) {
  for (const int nodes : {3, 4, 8}) {
    const auto link = found_in(nodes, ring(nodes, [](int from, int to, auto) { return from == 1 || to == 1 ? 0.4 * kQuick : kQuick; }));
    ASSERT_TRUE(link) << nodes;
    EXPECT_EQ(link->kind, Kind::kNode);
    EXPECT_EQ(link->node, 1);
    EXPECT_NEAR(link->ratio, 0.4, 0.06);
    EXPECT_NEAR(link->excess_ns, kBytes / (0.4 * kQuick) - kBytes / kQuick, 0.15 * kBytes / (0.4 * kQuick));
    EXPECT_EQ(link->first, 0U);
    EXPECT_EQ(link->last_step, 200U);
  }
}

TEST(SlowLink, OfOneDirectionOrBetweenTwoNodesIsDistinguished) {
  const auto one_way = found_in(4, ring(4, [](int from, int, auto) { return from == 2 ? 0.3 * kQuick : kQuick; }));
  ASSERT_TRUE(one_way);
  EXPECT_EQ(one_way->kind, Kind::kDirection);
  EXPECT_EQ(one_way->node, 2);
  EXPECT_EQ(one_way->to_node, 1);
  const auto pair = found_in(4, [](int from, int to, auto) { return from + to == 5 ? 0.3 * kQuick : kQuick; });
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->kind, Kind::kPair);
  EXPECT_EQ(pair->node, 2);
  EXPECT_EQ(pair->to_node, 3);
  const auto of_two = found_in(2, [](int from, int, auto) { return from == 1 ? 0.3 * kQuick : kQuick; });
  ASSERT_TRUE(of_two);
  EXPECT_EQ(of_two->node, 1);
}

TEST(SlowLink, HasAnOnset) {
  const auto link = found_in(4, ring(4, [](int from, int to, std::uint32_t step) {
                               return step > 120 && (from == 3 || to == 3) ? 0.3 * kQuick : kQuick;
                             }));
  ASSERT_TRUE(link);
  EXPECT_EQ(link->node, 3);
  EXPECT_NEAR(link->first_step, 121, 8);
  EXPECT_EQ(link->last_step, 200U);
}

TEST(SlowLink, IsNotNamedWhereNothingDistinguishesIt) {
  EXPECT_FALSE(found_in(4, ring(4, [](int, int, auto) { return kQuick; })));
  EXPECT_FALSE(found_in(2, [](int, int, auto) { return 0.1 * kQuick; })) << "both directions alike: nothing to compare with";
  EXPECT_FALSE(found_in(4, ring(4, [](int from, int, auto) { return kQuick * (from == 2 ? 0.85 : 1); }))) << "hardly slower";
  const auto scattered = [](int from, int to, auto) {
    return (from == 0 && to == 5) || (from == 4 && to == 3) || (from == 2 && to == 1) ? 0.3 * kQuick : kQuick;
  };
  EXPECT_FALSE(found_in(6, ring(6, scattered))) << "three slow links that share no node";
  EXPECT_FALSE(find_slow_link(link_table({})));
}

TEST(SlowLink, ThatIsSlowNowAndThenIsNoBadLink) {
  EXPECT_FALSE(found_in(4, ring(4, [](int from, int, std::uint32_t step) {
                          return from == 1 && step / 8 % 5 == 0 ? 0.1 * kQuick : kQuick;
                        })));
  EXPECT_FALSE(found_in(4, ring(4, [](int from, int, std::uint32_t step) { return from == 1 && step <= 16 ? 0.05 * kQuick : kQuick; })));
}

TEST(SlowLink, HealthyLinksOfManyRatesAndSizesAreLeftAlone) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> rate(0, 0.1);
    std::map<std::pair<int, int>, double> rates;
    for (int from = 0; from < 5; ++from) {
      for (int to = 0; to < 5; ++to) rates[{from, to}] = kQuick * rate(random);
    }
    const auto link = found_in(5, [&](int from, int to, auto) { return rates.at({from, to}); });
    EXPECT_FALSE(link) << seed;
  }
}

TEST(SlowLink, ReadingsThatCannotBeAreLeftOut) {
  std::vector<LinkUse> uses = uses_of(3, ring(3, [](int, int, auto) { return kQuick; }));
  uses[0].readings = {{0, 0, 0}, {0, 0, 0}};
  EXPECT_EQ(link_table(uses).directions.size(), 2U);
  for (LinkUse& use : uses) use.readings.resize(1);
  EXPECT_TRUE(link_table(uses).ends.empty());
  EXPECT_FALSE(find_slow_link(link_table(uses)));
}

/// Pairs of nodes of a real cluster, each measured by itself, as if they were directions: sizes are stretches.
std::map<std::string, LinkTable> cluster00() {
  std::map<std::string, LinkTable> tables;
  std::ifstream file(std::string(DDBENCH_SOURCE_DIR) + "/tests/unit/analyzer/diagnose/cluster00.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string gpus;
    std::string test;
    DirectionUse pair;
    words >> gpus >> test >> pair.from_node >> pair.to_node;
    double bytes = 1 << 25;
    for (double time_us = 0; words >> time_us; bytes *= 2) {
      pair.bytes.push_back(bytes);
      pair.busy_ns.push_back(time_us * 1e3);
    }
    LinkTable& table = tables[gpus + " " + test];
    table.directions.push_back(pair);
    table.ends = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80};
  }
  return tables;
}

TEST(SlowLink, PairsThatAreSlowForAWhileMakeNoBadNodeOfARealCluster) {
  const auto tables = cluster00();
  ASSERT_EQ(tables.size(), 3U);
  for (const auto& [what, table] : tables) {
    ASSERT_GT(table.directions.size(), 100U) << what;
    EXPECT_FALSE(find_slow_link(table)) << what;
  }
}

TEST(SlowLink, ABadNodeOfThatClusterIsFoundAmongThem) {
  for (auto [what, table] : cluster00()) {
    if (!what.starts_with("1 ")) continue;
    for (DirectionUse& pair : table.directions) {
      if (pair.from_node != 7 && pair.to_node != 7) continue;
      for (double& busy_ns : pair.busy_ns) busy_ns *= 2.5;
    }
    const auto link = find_slow_link(table);
    ASSERT_TRUE(link);
    EXPECT_EQ(link->kind, Kind::kNode);
    EXPECT_EQ(link->node, 7);
  }
}

}  // namespace
}  // namespace ddbench::analyzer
