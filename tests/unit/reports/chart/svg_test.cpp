#include "reports/chart/svg.h"

#include <gtest/gtest.h>

#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <random>
#include <regex>
#include <sstream>

#include "hostile_names.h"
#include "reports/chart/chart.h"
#include "reports/chart/palette.h"
#include "text.h"

namespace ddbench::reports {
namespace {

using test::count;

using analyzer::Figure;
using analyzer::Series;
using analyzer::SeriesShape;
using boost::property_tree::ptree;

/// Throws on markup that is not well-formed.
ptree parsed(const std::string& svg) {
  std::istringstream in(svg);
  ptree tree;
  boost::property_tree::read_xml(in, tree);
  return tree.get_child("svg");
}

Figure efficiency() {
  Figure figure;
  figure.title = "Scaling efficiency (weak)";
  figure.x = {"GPUs", "1", true};
  figure.y = {"efficiency", "%"};
  Series series{"measured", SeriesShape::kLine, {}, {Provenance::kMeasured}};
  series.points = {{1, 100, std::nullopt, {}},
                   {2, 95, ConfidenceInterval{93, 97, 0.95, "Student's t"}, {}},
                   {4, 90, std::nullopt, {}}};
  Series ideal{"ideal",
               SeriesShape::kLine,
               {{1, 100, std::nullopt, {}}, {4, 100, std::nullopt, {}}},
               {Provenance::kPredicted}};
  figure.series = {series, ideal};
  return figure;
}

Figure waterfall() {
  Figure figure;
  figure.title = "Lost step time";
  figure.x = {"part", ""};
  figure.y = {"lost", "ms"};
  Series parts{"lost", SeriesShape::kWaterfall, {}, {Provenance::kMeasured}};
  parts.points = {{0, -1, std::nullopt, "forward"},
                  {1, 3, std::nullopt, "exposed_transfer"},
                  {2, 0.5, std::nullopt, "idle"}};
  Series total{"total", SeriesShape::kBars, {{3, 2.5, std::nullopt, "lost in all"}}, {Provenance::kMeasured}};
  figure.series = {parts, total};
  return figure;
}

TEST(FigureSvg, IsAnImageWithNameAndDescription) {
  const ptree svg = parsed(figure_svg(efficiency(), {720, true, "e"}));
  EXPECT_EQ(svg.get<std::string>("<xmlattr>.role"), "img");
  EXPECT_EQ(svg.get<std::string>("<xmlattr>.aria-labelledby"), "e-t e-d");
  EXPECT_EQ(svg.get<std::string>("title"), "Scaling efficiency (weak)");
  const std::string description = svg.get<std::string>("desc");
  EXPECT_NE(description.find("measured, 2 GPUs: 95.0% (93.0% to 97.0%, 95%, Student's t)"), std::string::npos)
      << description;
}

TEST(FigureSvg, GivesEveryPointATooltipAndItsOwnShape) {
  const std::string svg = figure_svg(efficiency());
  EXPECT_EQ(count(svg, "class=\"mark s0\""), 3u + 1u);  // and the legend's
  EXPECT_NE(svg.find("measured, 4 GPUs: 90.0%</title>"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"error s0\""), 1u);
  EXPECT_NE(svg.find("class=\"line ideal dashed\""), std::string::npos);
}

TEST(FigureSvg, IntervalsAreABandOnlyAlongALine) {
  Figure figure = efficiency();
  auto& points = figure.series[0].points;
  points.clear();
  for (int i = 1; i <= 100; ++i) points.push_back({static_cast<double>(i), 90, ConfidenceInterval{88, 92, 0.95, "t"}, {}});
  const std::string line = figure_svg(figure);
  EXPECT_EQ(count(line, "class=\"band s0\""), 1u);
  EXPECT_EQ(count(line, "class=\"error s0\""), 0u);
  figure.series[0].shape = SeriesShape::kPoints;
  const std::string offers = figure_svg(figure);
  EXPECT_EQ(count(offers, "class=\"band s0\""), 0u) << "points next to each other have nothing to do with one another";
  EXPECT_EQ(count(offers, "class=\"error s0\""), 100u);
  EXPECT_EQ(count(offers, "class=\"mark s0\""), 100u + 1u);
}

TEST(FigureSvg, IntervalsDoNotPressTheValuesIntoALine) {
  Figure figure = efficiency();
  analyzer::Point& wide = figure.series[0].points[1];
  wide.interval = ConfidenceInterval{-700, 890, 0.95, "Student's t"};
  const svg::Chart chart = svg::make_chart(figure);
  const svg::Mark& mark = chart.lines[0].marks[1];
  ASSERT_TRUE(mark.interval);
  EXPECT_TRUE(mark.interval->low_is_cut && mark.interval->high_is_cut);
  EXPECT_GT(mark.interval->low, 0);  // 90 to 100 are shown, with room for half of 100 on each side
  EXPECT_LT(mark.interval->high, 200);
  EXPECT_NE(mark.tip.find("-700"), std::string::npos) << "the tip has all of it: " << mark.tip;
  EXPECT_NE(mark.tip.find("890"), std::string::npos) << mark.tip;
  figure = efficiency();
  EXPECT_FALSE(svg::make_chart(figure).lines[0].marks[1].interval->high_is_cut);
  figure.y.logarithmic = true;
  figure.series[0].points[1].interval = ConfidenceInterval{90, 9e9, 0.95, "Student's t"};
  const svg::Mark logarithmic = svg::make_chart(figure).lines[0].marks[1];
  EXPECT_FALSE(logarithmic.interval->low_is_cut);
  EXPECT_TRUE(logarithmic.interval->high_is_cut);
  EXPECT_LT(logarithmic.interval->high, 400);
}

TEST(FigureSvg, StandsAloneOrSharesThePagesStyle) {
  EXPECT_NE(figure_svg(efficiency()).find("<style>"), std::string::npos);
  const std::string part = figure_svg(efficiency(), {530, false, "f1"});
  EXPECT_EQ(part.find("<style>"), std::string::npos);
  EXPECT_EQ(part.find("class=\"title\""), std::string::npos);
  for (const std::string& svg : {figure_svg(waterfall()), part}) {
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(count(svg, "http"), count(svg, "http://www.w3.org/2000/svg"));
    EXPECT_EQ(svg.find("style=\""), std::string::npos);
  }
}

TEST(FigureSvg, WaterfallBarsBeginWhereTheLastOneEnded) {
  const std::string svg = figure_svg(waterfall(), {720, false, "w"});
  const std::regex bar(
      R"re(<rect x="([-\d.]+)" y="[-\d.]+" width="([-\d.]+)" height="[-\d.]+" class="bar (\w+)">)re");
  std::vector<std::array<double, 2>> bars;
  for (std::sregex_iterator match(svg.begin(), svg.end(), bar), end; match != end; ++match) {
    bars.push_back({std::stod((*match)[1]), std::stod((*match)[1]) + std::stod((*match)[2])});
  }
  ASSERT_EQ(bars.size(), 4u);
  EXPECT_NEAR(bars[1][0], bars[0][0], 0.2);  // from -1 upwards, where forward went down to
  EXPECT_NEAR(bars[2][0], bars[1][1], 0.2);
  EXPECT_NEAR(bars[3][1], bars[2][1], 0.2);  // the total ends where the parts end ...
  EXPECT_NEAR(bars[3][0], bars[0][1], 0.2);  // ... and begins at zero
  EXPECT_NE(svg.find(">+3.00 ms<"), std::string::npos);
  EXPECT_NE(svg.find(">-1.00 ms<"), std::string::npos);
}

TEST(FigureSvg, StackedBarsEndAtTheirSum) {
  Figure figure;
  figure.y = {"mean step", "ms"};
  for (const char* part : {"forward", "backward", "idle"}) {
    figure.series.push_back(
        {part, SeriesShape::kStackedBars, {{0, 2, std::nullopt, "run"}}, {Provenance::kMeasured}});
  }
  figure.series.push_back(
      {"copy", SeriesShape::kStackedBars, {{0, 0, std::nullopt, "run"}}, {Provenance::kMeasured}});
  const std::string svg = figure_svg(figure);
  EXPECT_NE(svg.find(">6.000 ms<"), std::string::npos);
  EXPECT_NE(svg.find("class=\"bar backward\""), std::string::npos);
  EXPECT_EQ(svg.find("bar copy"), std::string::npos) << "what is nothing is not in the legend";
  EXPECT_NE(svg.find("<pattern id=\"figure-h1\""), std::string::npos);
}

TEST(FigureSvg, EachValueHasAUnitInWhichItCanBeRead) {
  Figure figure;
  figure.y = {"bus bandwidth", "B/s"};
  figure.series = {{"busbw", SeriesShape::kBars, {{0, 64'600, std::nullopt, "8.00 B"}, {1, 116.4e6, std::nullopt, "1.07 MB"}}, {}}};
  const svg::Chart chart = svg::make_chart(figure);
  ASSERT_EQ(chart.end_labels.size(), 2U);
  EXPECT_EQ(chart.end_labels[0].text, "64.6 kB/s");
  EXPECT_EQ(chart.end_labels[1].text, "116 MB/s") << "as the table of collectives has it";
}

TEST(FigureSvg, ATitleDoesNotRepeatTheLabels) {
  Figure figure;
  figure.x = {"rank", "1"};
  figure.y = {"mean step", "ms"};
  figure.series = {{"forward", SeriesShape::kStackedBars, {{0, 1, std::nullopt, "rank 0"}, {1, 2, std::nullopt, "rank 1"}}, {}}};
  EXPECT_EQ(svg::make_chart(figure).x_title, "");
  figure.series[0].points[1].label = "slowest";
  EXPECT_EQ(svg::make_chart(figure).x_title, "rank");
}

TEST(FigureSvg, AnEmptyFigureSaysSo) {
  Figure figure;
  figure.title = "Lost step time";
  figure.notes = {"no waterfall: no baseline"};
  for (const bool standalone : {true, false}) {
    const std::string svg = figure_svg(figure, {530, standalone, "f"});
    EXPECT_NO_THROW(parsed(svg));
    EXPECT_NE(svg.find("nothing to draw"), std::string::npos);
  }
  EXPECT_NE(figure_svg(figure).find("no waterfall: no baseline"), std::string::npos);
}

TEST(FigureSvg, LeavesOutAndCountsWhatCannotBeDrawn) {
  Figure figure = efficiency();
  figure.series[0].points.push_back({0, 50, std::nullopt, {}});
  figure.series[0].points.push_back({8, std::nan(""), std::nullopt, {}});
  figure.series[0].points.push_back({8, INFINITY, std::nullopt, {}});
  figure.series[0].points.push_back({1e300, 1e300, std::nullopt, {}});
  EXPECT_EQ(figure_notes(figure).back(),
            "4 values cannot be drawn: not finite, or not positive on a logarithmic axis");
  const std::string svg = figure_svg(figure);
  EXPECT_NO_THROW(parsed(svg));
  EXPECT_FALSE(std::regex_search(svg, std::regex(R"re(["> ,MLHV]-?(nan|inf))re")));
}

TEST(FigureSvg, KeepsOutliersOfALongSeriesAndStaysSmall) {
  Figure figure;
  figure.x = {"step", "1"};
  figure.y = {"step time", "ms"};
  Series series{"slowest rank", SeriesShape::kLine, {}, {Provenance::kMeasured}};
  for (int i = 0; i < 200'000; ++i)
    series.points.push_back({double(i), i == 123'456 ? 100.0 : 10 + i % 3, std::nullopt, {}});
  figure.series = {series};
  const std::string svg = figure_svg(figure, {720, false, "f"});
  EXPECT_LT(svg.size(), 60'000u);
  const std::regex spot(R"re(L([-\d.]+) ([-\d.]+))re");
  double highest = 1e9;
  for (std::sregex_iterator match(svg.begin(), svg.end(), spot), end; match != end; ++match)
    highest = std::min(highest, std::stod((*match)[2]));
  EXPECT_LT(highest, 40) << "the one slow step is at the top of the drawing";
}

TEST(FigureSvg, SaysWhereProvenancesAreMixed) {
  Figure figure = efficiency();
  EXPECT_EQ(figure_notes(figure).back(), "provenance: measured");
  Series other = figure.series[0];
  other.name = "on two cores";
  other.provenance.add(Provenance::kOversubscribed);
  figure.series.push_back(other);
  EXPECT_EQ(figure_notes(figure).back(), "provenances are mixed: on two cores: measured, oversubscribed");
}

TEST(FigureSvg, HostileNamesStayText) {
  for (const std::string& name : test::hostile_names()) {
    Figure figure = waterfall();
    figure.title = figure.x.label = figure.y.label = figure.y.unit = name;
    figure.notes = {name};
    for (Series& series : figure.series) {
      series.name = name;
      for (analyzer::Point& point : series.points) point.label = name;
    }
    for (const bool standalone : {true, false}) {
      const std::string svg = figure_svg(figure, {400, standalone, "f"});
      ASSERT_NO_THROW(parsed(svg)) << svg;
      EXPECT_EQ(svg.find("<script"), std::string::npos);
      EXPECT_EQ(svg.find("<img"), std::string::npos);
    }
  }
}

TEST(FigureSvg, NeverFailsOnRandomFigures) {
  std::mt19937 random(11);
  const double odd[] = {0, -0.0, 1, -1, 1e-300, 1e300, -1e250, INFINITY, -INFINITY, NAN, 3, 1e9, 2.5};
  const auto value = [&] { return odd[random() % std::size(odd)]; };
  for (int i = 0; i < 1500; ++i) {
    Figure figure;
    figure.x = {"x", random() % 2 ? "ns" : "1", random() % 2 == 0};
    figure.y = {"y", random() % 2 ? "B" : "%", random() % 2 == 0};
    for (std::size_t s = random() % 4; s > 0; --s) {
      Series series{"s" + std::to_string(s),
                    static_cast<SeriesShape>(random() % 5),
                    {},
                    ProvenanceSet::from_bits(random() % 8)};
      for (std::size_t p = random() % 40; p > 0; --p) {
        analyzer::Point point{value(), value(), std::nullopt,
                              random() % 3 ? "" : "label " + std::to_string(p)};
        if (random() % 2) point.interval = ConfidenceInterval{value(), value(), 0.95, "m"};
        series.points.push_back(point);
      }
      figure.series.push_back(series);
    }
    const std::string svg =
        figure_svg(figure, {static_cast<double>(random() % 1200), random() % 2 == 0, "f"});
    ASSERT_NO_THROW(parsed(svg));
    EXPECT_EQ(svg.find("\"nan"), std::string::npos);
    EXPECT_EQ(svg.find("\"inf"), std::string::npos);
    EXPECT_LT(svg.size(), 200'000u);
  }
}

TEST(FigureSvg, LogarithmicAxesBeginAboveWhatCannotBeDivided) {
  Figure figure;
  figure.x = {"x", "", false};
  figure.y = {"y", "ns", true};
  figure.series.push_back({"s", SeriesShape::kLine, {{1, 1e-315}, {2, 1e-199}, {3, 1e199}}, {}});
  EXPECT_EQ(svg::make_chart(figure).left_out, 1);
}

double luminance(std::string_view colour) {
  double sum = 0;
  const double weight[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = std::stoi(std::string(colour.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    sum += weight[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(std::string_view a, std::string_view b) {
  const double one = luminance(a) + 0.05;
  const double other = luminance(b) + 0.05;
  return std::max(one, other) / std::min(one, other);
}

TEST(Palette, CanBeSeenOnLightAndDarkPages) {
  for (const Ink& ink : all_inks()) {
    EXPECT_GE(contrast(ink.light, "#ffffff"), 3.0) << ink.css_class;
    EXPECT_GE(contrast(ink.dark, "#14171c"), 2.8) << ink.css_class;
  }
}

TEST(Palette, ReportsSeriesApartWithoutColour) {
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Ink& a = ink_for("series", i);
      const Ink& b = ink_for("series", j);
      EXPECT_NE(a.marker, b.marker);
      EXPECT_TRUE(a.hatch != b.hatch || contrast(a.light, b.light) > 1.05);
    }
  }
  EXPECT_EQ(ink_for("exposed transfer", 3).css_class, ink_for("exposed_transfer", 0).css_class);
}

}  // namespace
}  // namespace ddbench::reports
