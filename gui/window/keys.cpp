#include "gui/window/keys.h"

#include <array>
#include <span>

namespace ddbench::gui {
namespace {

struct Key {
  const char* keys;
  const char* effect;
};

constexpr std::array kWindow{Key{"Ctrl+1 … Ctrl+9, Ctrl+0", "open a page"},
                             Key{"Ctrl+F", "filter runs, or search spans"},
                             Key{"Ctrl+Z, Ctrl+Shift+Z", "undo or redo a change of the filter"},
                             Key{"F5", "read the store again"},
                             Key{"Ctrl+O", "open another store"},
                             Key{"Ctrl+T", "theme: light, dark or system"},
                             Key{"Ctrl+Q", "quit"}};
constexpr std::array kTables{Key{"Click a heading", "sort"},
                             Key{"Right click a heading", "choose columns"},
                             Key{"Ctrl+C, or right click", "copy rows, save as CSV"}};
constexpr std::array kCharts{
    Key{"Hover, or Left and Right", "value and interval of a point or bar"},
    Key{"Drag a box, wheel, + and −", "zoom (charts with numeric axes)"},
    Key{"Shift+arrows", "move"},
    Key{"Double click, Home", "show all"},
    Key{"Click an entry of the legend", "show or hide a series"},
    Key{"Right click", "copy the value or the data, switch the scales"},
    Key{"Return, or click", "open what the point stands for, where it can be opened"}};
constexpr std::array kTimeline{Key{"Wheel, + and −", "zoom"},
                               Key{"Drag, arrows", "move through time and lanes"},
                               Key{"Shift+drag, or M twice", "measure a time"},
                               Key{"N, Shift+N", "next or previous match of the search"},
                               Key{"S, Shift+S", "next or previous straggler: the last rank of a collective"},
                               Key{"C, or click a node", "collapse or expand the ranks of a node; Shift+C: of all nodes"},
                               Key{"kind:forward relu", "searches by kind and name"},
                               Key{"Home", "show all"},
                               Key{"Escape", "clear selection and measurement"}};

QString section(const char* title, std::span<const Key> keys) {
  QString html =
      QStringLiteral("<h3>%1</h3><table cellspacing=\"0\" cellpadding=\"3\">").arg(QLatin1String(title));
  for (const Key& key : keys) {
    html += QStringLiteral("<tr><td style=\"white-space:nowrap\"><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>")
                .arg(QString::fromUtf8(key.keys), QString::fromUtf8(key.effect));
  }
  return html + QStringLiteral("</table>");
}

}  // namespace

QString keys_text() {
  return section("Window", kWindow) + section("Tables", kTables) + section("Charts", kCharts) + section("Timeline", kTimeline);
}

}  // namespace ddbench::gui
