#pragma once

#include <string>
#include <string_view>

namespace ddbench::reports::svg {

enum class Anchor { kStart, kMiddle, kEnd };

/// Writes SVG elements one after another. Coordinates are pixels with one decimal; texts are escaped only
/// here. Class names and ids come from the program, never from data.
class Canvas {
 public:
  void raw(std::string_view markup) { markup_ += markup; }
  void open_group(std::string_view css_class);
  void close_group() { markup_ += "</g>"; }

  void line(double x1, double y1, double x2, double y2, std::string_view css_class);
  /// `fill` is a paint server ("url(#...)") or empty; `tip` becomes the tooltip.
  void rect(double x, double y, double width, double height, std::string_view css_class,
            std::string_view tip = {}, std::string_view fill = {});
  void path(std::string_view data, std::string_view css_class, std::string_view tip = {});
  void text(double x, double y, std::string_view content, Anchor anchor, std::string_view css_class,
            std::string_view tip = {});
  /// Turned by `degrees` about its anchor.
  void turned_text(double x, double y, double degrees, std::string_view content, Anchor anchor,
                   std::string_view css_class, std::string_view tip = {});

  const std::string& markup() const noexcept { return markup_; }

 private:
  std::string markup_;
};

/// "12", "12.5": one decimal, none where it is 0.
std::string px(double value);

}  // namespace ddbench::reports::svg
