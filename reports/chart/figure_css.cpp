#include <fmt/format.h>

#include "reports/chart/palette.h"
#include "reports/chart/svg.h"

namespace ddbench::reports {
namespace {

// Sizes are those of svg/layout.h.
constexpr const char* kRules =
    R"(.figure{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif;font-size:12px;font-variant-numeric:tabular-nums;color:var(--ink)}
.figure text{fill:currentColor}.figure .page{fill:var(--page)}
.figure .title{font-size:15px;font-weight:600}
.figure .tick,.figure .axis,.figure .note{fill:var(--soft)}.figure .value{font-weight:600;paint-order:stroke;stroke:var(--page);stroke-width:4px}
.figure .grid{stroke:var(--grid)}.figure .base{stroke:var(--axis)}
.figure .connector{stroke:var(--axis);stroke-dasharray:2 2}
.figure .nothing{fill:none;stroke:var(--grid);stroke-dasharray:4 4}
.figure .bar{fill:var(--c);stroke:var(--page);stroke-width:.6}.figure .hatch{pointer-events:none}
.figure .hatch-line{stroke:var(--page);stroke-width:1.3;stroke-opacity:.55;fill:none}
.figure .hatch-dots{stroke:var(--page);stroke-width:2;stroke-opacity:.6;fill:none}
.figure .whisker{stroke:var(--ink);stroke-width:1.4;fill:none}
.figure .line{stroke:var(--c);stroke-width:2;fill:none;stroke-linejoin:round}
.figure .thin{stroke-width:1.2}.figure .dashed{stroke-dasharray:6 4;stroke-width:1.5}
.figure .error{stroke:var(--c);stroke-width:1.4;fill:none}
.figure .band{fill:var(--c);fill-opacity:.2}
.figure .mark{fill:var(--c);stroke:var(--page)}.figure .open{fill:var(--page);stroke:var(--c);stroke-width:2}
)";

}  // namespace

std::string figure_css(std::string_view scope) {
  std::string light =
      fmt::format("{}{{--page:#fff;--ink:#1c2330;--soft:#5b6472;--grid:#e3e7ec;--axis:#8b95a5", scope);
  std::string dark = fmt::format(
      "@media screen and (prefers-color-scheme:dark){{{}{{--page:#14171c;--ink:#e6e9ef;--soft:#9aa4b2;"
      "--grid:#2a3038;--axis:#5c6675",
      scope);
  std::string rules = kRules;
  for (const Ink& ink : all_inks()) {
    light += fmt::format(";--{}:{}", ink.css_class, ink.light);
    dark += fmt::format(";--{}:{}", ink.css_class, ink.dark);
    rules += fmt::format(".figure .{0}{{--c:var(--{0})}}", ink.css_class);
  }
  return light + "}\n" + dark + "}}\n" + rules + "\n";
}

}  // namespace ddbench::reports
