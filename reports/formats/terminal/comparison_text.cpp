#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/formats/terminal/analysis.h"
#include "reports/formats/terminal/intervals_text.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/formats/terminal/notes_text.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

using analyzer::ComparedFigure;
using analyzer::Comparison;

constexpr std::size_t kMostKernels = 12;
constexpr std::size_t kMostDifferences = 40;

std::string value_in_words(const Measured<double>& value, const std::string& unit) {
  if (!value) return "–";
  return unit == "bytes" ? quantity(*value, "B") : quantity(*value, unit);
}

std::string side_in_words(const analyzer::ComparedSide& side) {
  std::string text = visible(side.meaning);
  if (side.runs.size() > 1) text += fmt::format(" ({} runs)", side.runs.size());
  const RunCase& run_case = side.runs.front().run_case;
  return text + fmt::format(" · {} · {} · {}", visible(run_case.workload), shape_in_words(side.runs.front()),
                            provenance_in_words(side.runs.front().provenance));
}

std::string differences_section(const Comparison& comparison, const Paint& paint, std::size_t width) {
  if (comparison.differences.empty()) return {};
  Table table({{"", Align::kLeft}, {"A", Align::kLeft, true}, {"B", Align::kLeft, true}, {"", Align::kLeft}});
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("–") : visible(shortened(value, 48));
  };
  for (std::size_t i = 0; i < std::min(comparison.differences.size(), kMostDifferences); ++i) {
    const FieldDifference& difference = comparison.differences[i];
    const bool follows = difference.role == FieldRole::kConsequence;
    table.add_row({{visible(difference.field)},
                   {shown(difference.a)},
                   {shown(difference.b)},
                   {is_asked_for(difference.role) ? ""
                    : follows                     ? "follows"
                                                  : "environment",
                    Tone::kFaint}});
  }
  std::string text = "\n" + paint(Tone::kStrong, "What differs") + "\n" + table.render(paint, 2, width);
  if (comparison.differences.size() > kMostDifferences) {
    text += fmt::format("  and {} more (--json has all)\n", comparison.differences.size() - kMostDifferences);
  }
  return text;
}

std::string figures_section(const char* title, const std::vector<ComparedFigure>& figures, std::size_t most,
                            const Paint& paint, std::size_t width) {
  if (figures.empty()) return {};
  Table table({{"", Align::kLeft, true}, {"A"}, {"B"}, {"B over A (95%)", Align::kLeft}});
  for (std::size_t i = 0; i < std::min(figures.size(), most); ++i) {
    const ComparedFigure& figure = figures[i];
    if (!figure.a && !figure.b) continue;
    table.add_row({{visible(figure.name)},
                   {value_in_words(figure.a, figure.unit)},
                   {value_in_words(figure.b, figure.unit)},
                   {ratio_in_words(figure.ratio)}});
  }
  std::string text = "\n" + paint(Tone::kStrong, title) + "\n" + table.render(paint, 2, width);
  if (figures.size() > most) text += fmt::format("  and {} more (--json has all)\n", figures.size() - most);
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const TextStyle& style) {
  const Paint paint(style.color);
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  std::string text = fitted("A: " + side_in_words(comparison.a), width) + "\n" +
                     fitted("B: " + side_in_words(comparison.b), width) + "\n";
  const bool plain = comparison.verdict == analyzer::ComparisonVerdict::kRepetitions ||
                     comparison.verdict == analyzer::ComparisonVerdict::kOneChange;
  for (const std::string& line : wrapped(comparison.verdict_text, width))
    text += paint(plain ? Tone::kStrong : Tone::kWarning, line) + "\n";
  constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  text += differences_section(comparison, paint, width);
  text += figures_section("What changed", comparison.figures, kAll, paint, width);
  std::vector<ComparedFigure> parts = comparison.parts;
  for (ComparedFigure& part : parts) part.name = part_in_words(part.name);
  text += figures_section("Mean step by parts", parts, kAll, paint, width);
  text += figures_section("Collectives: transfer time", comparison.collectives, kAll, paint, width);
  text += figures_section("Kernels: time a step and rank, largest change first", comparison.kernels,
                          kMostKernels, paint, width);
  if (const std::string notes = notes_section(comparison.notes, paint, width); !notes.empty())
    text += "\n" + notes;
  return text;
}

}  // namespace ddbench::reports
