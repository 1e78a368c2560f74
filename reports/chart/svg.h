#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/figure/figure.h"

namespace ddbench::reports {

struct SvgStyle {
  double width_px = 720;  ///< 280 or more; the height follows from the content
  /// True: a standalone file with title, notes and style sheet. False: part of a page that includes
  /// figure_css() and prints the title and figure_notes() itself.
  bool standalone = true;
  /// Begins every id in the drawing: letters and digits, another one for each drawing of a page.
  std::string id_prefix = "figure";
};

/// The figure as one accessible <svg> element: role img with title and a description that holds the values, a
/// tooltip with value and interval on each mark, colours that suit light and dark pages. No script and no
/// external reference. Values that cannot be drawn (not finite, or not positive on a logarithmic axis) are
/// left out and counted in a note. Never throws, whatever the figure: an empty one is drawn with a message
/// that it is empty.
std::string figure_svg(const analyzer::Figure& figure, const SvgStyle& style = {});

/// The notes of a figure and other facts that a reader needs: provenance, values left out. Plain text.
std::vector<std::string> figure_notes(const analyzer::Figure& figure);

/// The rules that figure_svg's classes need; colours are custom properties on `scope`.
std::string figure_css(std::string_view scope);

}  // namespace ddbench::reports
