#include <fmt/format.h>

#include <optional>

#include "reports/chart/chart_alt_text.h"
#include "reports/chart/draw.h"
#include "reports/chart/svg.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

/// One sentence; series that only show an ideal do not count.
std::optional<std::string> provenance_note(const analyzer::Figure& figure) {
  std::optional<ProvenanceSet> common;
  bool mixed = false;
  for (const analyzer::Series& series : figure.series) {
    if (series.points.empty() || series.name == "ideal") continue;
    mixed |= common && !(*common == series.provenance);
    common = series.provenance;
  }
  if (!common) return std::nullopt;
  if (!mixed) return "provenance: " + provenance_in_words(*common);
  std::string text;
  for (const analyzer::Series& series : figure.series) {
    const std::string words = provenance_in_words(series.provenance);
    if (series.points.empty() || series.name == "ideal" || series.name.find(words) != std::string::npos)
      continue;
    text += fmt::format("{} {}: {}", text.empty() ? ":" : ";", svg::display_name(series.name), words);
  }
  return "provenances are mixed" + (text.empty() ? ": see the legend" : text);
}

std::size_t left_out(const analyzer::Figure& figure) {
  std::size_t count = 0;
  for (const analyzer::Series& series : figure.series) {
    for (const analyzer::Point& point : series.points) count += !svg::can_be_drawn(figure, point);
  }
  return count;
}

void draw_nothing(svg::Canvas& canvas, double width, double height) {
  canvas.rect(8, 8, width - 16, height - 16, "nothing");
  canvas.text(width / 2, height / 2 + 4, "nothing to draw", svg::Anchor::kMiddle, "note");
}

std::string document(const analyzer::Figure& figure, const SvgStyle& style, const svg::Chart& chart,
                     double width, double height, const std::string& body) {
  const std::string size =
      fmt::format("width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\"", svg::px(width), svg::px(height));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" {0} role=\"img\" aria-labelledby=\"{1}-t "
      "{1}-d\">"
      "<title id=\"{1}-t\">{2}</title><desc id=\"{1}-d\">{3}</desc>",
      size, style.id_prefix, html_text(figure.title), html_text(svg::describe(figure, chart)));
  if (style.standalone)
    text += "<style>" + figure_css("svg.figure") +
            "</style><rect class=\"page\" width=\"100%\" height=\"100%\"/>";
  return text + body + "</svg>";
}

}  // namespace

std::vector<std::string> figure_notes(const analyzer::Figure& figure) {
  std::vector<std::string> notes = figure.notes;
  if (auto note = provenance_note(figure)) notes.push_back(*std::move(note));
  if (const std::size_t count = left_out(figure); count > 0) {
    notes.push_back(fmt::format(
        "{} value{} cannot be drawn: not finite{}", count, count == 1 ? "" : "s",
        figure.x.logarithmic || figure.y.logarithmic ? ", or not positive on a logarithmic axis" : ""));
  }
  return notes;
}

std::string figure_svg(const analyzer::Figure& figure, const SvgStyle& style) {
  const svg::Chart chart = svg::make_chart(figure);
  svg::LayoutDemand demand;
  demand.width = style.width_px;
  if (style.standalone) {
    demand.title = visible(figure.title);
    for (const std::string& note : figure_notes(figure)) demand.notes.push_back(visible(note));
  }
  svg::Canvas canvas;
  const svg::Layout layout = svg::lay_out(chart, demand);
  if (chart.empty() && !style.standalone) {
    draw_nothing(canvas, layout.width, 90);
    return document(figure, style, chart, layout.width, 90, canvas.markup());
  }
  svg::draw_title_and_notes(canvas, layout);
  if (!chart.empty()) {
    svg::define_hatches(canvas, chart, style.id_prefix);
    svg::draw_axes(canvas, chart, layout);
    svg::draw_bars(canvas, chart, layout, style.id_prefix);
    svg::draw_lines(canvas, chart, layout);
    svg::draw_legend(canvas, layout, style.id_prefix);
  } else {
    canvas.text(layout.width / 2, (layout.plot.top + layout.plot.bottom) / 2, "nothing to draw",
                svg::Anchor::kMiddle, "note");
  }
  return document(figure, style, chart, layout.width, layout.height, canvas.markup());
}

}  // namespace ddbench::reports
