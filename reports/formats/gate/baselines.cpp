#include <algorithm>

#include "reports/formats/gate/gate.h"
#include "reports/formats/json/json_values.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/formats/terminal/layout/table.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {

std::string baselines_text(const std::vector<store::NamedBaseline>& baselines, const TextStyle& style) {
  if (baselines.empty()) return "no named baselines\n";
  Table table({{"baseline", Align::kLeft},
               {"version"},
               {"set (UTC)", Align::kLeft},
               {"runs"},
               {"reference", Align::kLeft, true}});
  for (const store::NamedBaseline& baseline : baselines) {
    table.add_row({{visible(baseline.name)},
                   {std::to_string(baseline.version)},
                   {utc_time(baseline.created_wall_ns)},
                   {std::to_string(baseline.runs.size())},
                   {visible(baseline.reference)}});
  }
  return table.render(Paint(style.color), 0, static_cast<std::size_t>(std::max(style.width, 20)));
}

std::string baselines_json(const std::vector<store::NamedBaseline>& baselines) {
  Json json = Json::array();
  for (const store::NamedBaseline& baseline : baselines) {
    json.push_back({{"name", baseline.name},
                    {"version", baseline.version},
                    {"set", time_json(baseline.created_wall_ns)},
                    {"reference", baseline.reference},
                    {"runs", baseline.runs}});
  }
  return dumped(json);
}

}  // namespace ddbench::reports
