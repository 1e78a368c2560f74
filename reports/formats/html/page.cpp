#include "reports/formats/html/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/quantity.h"
#include "reports/chart/chart.h"
#include "reports/chart/svg.h"
#include "reports/formats/html/page_style.h"
#include "reports/formats/html/table.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports::html {
namespace {

/// Widths that a figure is laid out for; the page shows the one that suits the window.
constexpr double kNarrow_px = 330;
constexpr double kColumn_px = 530;
constexpr double kFull_px = 1080;
constexpr std::size_t kMostValues = 150;
constexpr std::size_t kNarrowField = 12;  // characters
constexpr std::size_t kWideField = 32;
constexpr std::size_t kBandsForFullWidth = 12;

std::string list(std::string_view css_class, const std::vector<std::string>& items) {
  std::string markup = fmt::format("<ul class=\"{}\">", css_class);
  for (const std::string& item : items) markup += "<li>" + html_text(item) + "</li>";
  return markup + "</ul>";
}

std::string_view tile_class(CellTone tone) {
  switch (tone) {
    case CellTone::kFaint: return "tile faint";
    case CellTone::kGood: return "tile good";
    case CellTone::kWarning: return "tile warning";
    case CellTone::kBad: return "tile bad";
    default: return "tile";
  }
}

/// "17,479 samples/s": its unit in smaller type, so that both fit on a line.
std::string figure_html(std::string_view value) {
  const std::size_t space = value.find(' ');
  const bool has_unit = space != std::string_view::npos && value.find(' ', space + 1) == std::string_view::npos &&
                        value.find_first_of("0123456789") < space && value.find_first_of("0123456789", space) == std::string_view::npos;
  if (!has_unit) return html_text(value);
  return fmt::format("{} <span class=\"unit\">{}</span>", html_text(value.substr(0, space)), html_text(value.substr(space + 1)));
}

constexpr std::size_t kLongestOption = 40;

/// Options are not broken at their hyphens: "(--repeat 3)".
std::string detail_html(std::string_view detail) {
  std::string markup;
  while (!detail.empty()) {
    const std::string_view word = detail.substr(0, detail.find(' '));
    const bool is_option = word.size() <= kLongestOption && word.substr(word.starts_with('(') ? 1 : 0).starts_with("--");
    markup += is_option ? fmt::format("<span class=\"option\">{}</span>", html_text(word)) : html_text(word);
    detail.remove_prefix(word.size());
    if (detail.starts_with(' ')) {
      markup += ' ';
      detail.remove_prefix(1);
    }
  }
  return markup;
}

/// Many bars need the full width; one or two horizontal bars would leave half of a column empty.
bool wants_full_width(const analyzer::Figure& figure) {
  std::size_t bands = 0;
  bool lying = false;
  for (const analyzer::Series& series : figure.series) {
    const bool bars =
        series.shape != analyzer::SeriesShape::kLine && series.shape != analyzer::SeriesShape::kPoints;
    if (bars) bands = std::max(bands, series.points.size());
    lying |= series.shape == analyzer::SeriesShape::kStackedBars && series.points.size() <= 2;
  }
  return bands > kBandsForFullWidth || lying;
}

}  // namespace

Page::Page(std::string_view kind, std::string_view title, std::string_view subtitle, const PageLinks* links) : links_(links) {
  markup_ = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<meta name=\"generator\" content=\"ddbench\"><title>{} – "
      "{}</title>\n<style>{}</style></head>\n<body><main>\n",
      content_security_policy(), html_text(shortened(title, 120)), html_text(kind), page_css());
  markup_ += fmt::format("<header><p class=\"kind\">{}</p><h1>{}</h1><p class=\"subtitle\">{}</p></header>\n",
                         html_text(kind), html_text(shortened(title, 300)), html_text(subtitle));
}

void Page::navigation(const std::vector<Link>& pages) {
  if (links_ == nullptr) return;
  markup_ += "<nav aria-label=\"Pages\">";
  for (const Link& link : pages) markup_ += fmt::format("<a href=\"{}\">{}</a>", html_text(links_->root + link.page), html_text(link.text));
  markup_ += "</nav>\n";
}

void Page::form(std::string_view page, std::string_view button, const std::vector<FormField>& fields) {
  markup_ += fmt::format("<form action=\"{}\">", html_text(links_ == nullptr ? std::string(page) : links_->root + std::string(page)));
  for (const FormField& field : fields) {
    markup_ += fmt::format("<label>{}<input name=\"{}\" value=\"{}\" size=\"{}\"></label>", html_text(field.label), html_text(field.name),
                           html_text(field.value), std::clamp<std::size_t>(char_count(field.value) + 3, kNarrowField, kWideField));
  }
  markup_ += fmt::format("<button>{}</button></form>\n", html_text(button));
}

void Page::badges(const std::vector<std::string>& badges) {
  markup_ += list("badges", badges) + "\n";
}

void Page::alarms(const std::vector<std::string>& alarms) {
  for (const std::string& alarm : alarms) {
    markup_ += fmt::format("<p class=\"alarm\"><strong>Attention:</strong> {}</p>\n", html_text(alarm));
  }
}

void Page::verdict(std::string_view sentence) {
  markup_ += fmt::format("<p class=\"verdict\">{}</p>\n", html_text(sentence));
}

void Page::tiles(const std::vector<Tile>& tiles) {
  markup_ += "<dl class=\"tiles\">";
  for (const Tile& tile : tiles) {
    markup_ +=
        fmt::format("<div class=\"{}\"><dt>{}</dt><dd>{}<small>{}</small></dd></div>", tile_class(tile.tone),
                    html_text(tile.label), figure_html(tile.value), detail_html(tile.detail));
  }
  markup_ += "</dl>\n";
}

void Page::notes(const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  markup_ += "<section class=\"notes\" aria-label=\"Caveats\"><h2>Notes</h2>" + list("", notes) +
             "</section>\n";
}

void Page::heading(std::string_view text) {
  markup_ += fmt::format("<h2>{}</h2>\n", html_text(text));
}

void Page::figures(const std::vector<analyzer::Figure>& figures) {
  if (figures.empty()) return;
  markup_ += "<div class=\"charts\">\n";
  for (const analyzer::Figure& each : figures) figure(each);
  markup_ += "</div>\n";
}

void Page::figure(const analyzer::Figure& figure) {
  const bool full = wants_full_width(figure);
  const int id = figures_++;
  markup_ += fmt::format("<figure{}><h3>{}</h3>", full ? " class=\"full\"" : "", html_text(figure.title));
  const auto draw = [&](std::string_view css_class, double width_px) {
    const SvgStyle style{width_px, false, fmt::format("f{}{}", id, css_class)};
    markup_ += fmt::format("<div class=\"{}\">{}</div>", css_class, figure_svg(figure, style));
  };
  if (full) draw("wide", kFull_px);
  draw(full ? "middle" : "column", kColumn_px);
  draw("narrow", kNarrow_px);
  markup_ += "<figcaption>" + list("", figure_notes(figure)) + "</figcaption>";
  figure_values(figure);
  markup_ += "</figure>\n";
}

void Page::figure_values(const analyzer::Figure& figure) {
  DataTable values{"Values of the chart: " + figure.title,
                   {},
                   {{"series"}, {figure.x.label}, {figure.y.label, true}, {"interval", true}},
                   {},
                   {}};
  const auto shown = [&unit = figure.y.unit](double value) {
    return unit == "ms" ? time_in_words(value * 1e6) : value_in_words(value, unit);
  };
  for (const analyzer::Series& series : figure.series) {
    for (const analyzer::Point& point : series.points) {
      if (values.rows.size() == kMostValues) return;  // `--format csv --rows steps` has them all
      const std::string x =
          point.label.empty() ? fmt::format("{:.6g}", point.x) : svg::display_name(point.label);
      std::vector<DataCell> row = {text_cell(svg::display_name(series.name)), text_cell(x),
                                   value_cell(point.y, shown(point.y)), text_cell("")};
      row[1].sort_by = point.x;
      if (point.interval) {
        row[3] = value_cell(point.interval->low,
                            fmt::format("{} to {}", shown(point.interval->low), shown(point.interval->high)));
        row[3].why = fmt::format("{:.0f}%, {}", 100 * point.interval->level, point.interval->method);
      }
      values.rows.push_back(std::move(row));
    }
  }
  markup_ += "<details><summary>Values</summary>" + table_markup(values, links_) + "</details>";
}

void Page::table(const DataTable& table) {
  if (!table.rows.empty()) markup_ += table_markup(table, links_) + "\n";
}

void Page::folded_table(const DataTable& table) {
  if (table.rows.empty()) return;
  markup_ += fmt::format("<details class=\"folded\"><summary>{} ({})</summary>{}</details>\n",
                         html_text(table.caption), table.rows.size(), table_markup(table, links_));
}

std::string Page::finish() {
  markup_ += "</main>\n<script>";
  markup_ += page_script();
  markup_ += "</script></body></html>\n";
  return std::move(markup_);
}

}  // namespace ddbench::reports::html
