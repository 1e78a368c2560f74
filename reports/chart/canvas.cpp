#include "reports/chart/canvas.h"

#include <fmt/format.h>

#include <cmath>

#include "reports/text/safe_text.h"

namespace ddbench::reports::svg {
namespace {

std::string_view anchor_attribute(Anchor anchor) {
  switch (anchor) {
    case Anchor::kMiddle: return " text-anchor=\"middle\"";
    case Anchor::kEnd: return " text-anchor=\"end\"";
    default: return "";
  }
}

std::string tip_element(std::string_view tip) {
  return tip.empty() ? std::string() : "<title>" + html_text(tip) + "</title>";
}

std::string close(std::string_view tag, std::string_view tip) {
  return tip.empty() ? "/>" : fmt::format(">{}</{}>", tip_element(tip), tag);
}

}  // namespace

std::string px(double value) {
  if (!std::isfinite(value)) return "0";
  const double tenths = std::round(value * 10);
  if (std::fmod(tenths, 10) == 0) return fmt::format("{:.0f}", tenths / 10 + 0.0);
  return fmt::format("{:.1f}", tenths / 10);
}

void Canvas::open_group(std::string_view css_class) {
  markup_ += fmt::format("<g class=\"{}\">", css_class);
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  markup_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>", px(x1), px(y1),
                         px(x2), px(y2), css_class);
}

void Canvas::rect(double x, double y, double width, double height, std::string_view css_class,
                  std::string_view tip, std::string_view fill) {
  markup_ +=
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", px(x), px(y), px(width), px(height));
  if (!css_class.empty()) markup_ += fmt::format(" class=\"{}\"", css_class);
  if (!fill.empty()) markup_ += fmt::format(" fill=\"{}\"", fill);
  markup_ += close("rect", tip);
}

void Canvas::path(std::string_view data, std::string_view css_class, std::string_view tip) {
  markup_ += fmt::format("<path d=\"{}\" class=\"{}\"{}", data, css_class, close("path", tip));
}

void Canvas::text(double x, double y, std::string_view content, Anchor anchor, std::string_view css_class,
                  std::string_view tip) {
  markup_ += fmt::format("<text x=\"{}\" y=\"{}\"{} class=\"{}\">{}{}</text>", px(x), px(y),
                         anchor_attribute(anchor), css_class, tip_element(tip), html_text(content));
}

void Canvas::turned_text(double x, double y, double degrees, std::string_view content, Anchor anchor,
                         std::string_view css_class, std::string_view tip) {
  markup_ +=
      fmt::format("<text transform=\"translate({} {}) rotate({})\"{} class=\"{}\">{}{}</text>", px(x), px(y),
                  px(degrees), anchor_attribute(anchor), css_class, tip_element(tip), html_text(content));
}

}  // namespace ddbench::reports::svg
