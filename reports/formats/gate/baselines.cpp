#include <algorithm>

#include "reports/formats/gate/gate.h"
#include "reports/formats/json/json_values.h"
#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/tables/gate/gate_tables.h"

namespace ddbench::reports {

std::string baselines_text(const std::vector<store::NamedBaseline>& baselines, const TextStyle& style) {
  if (baselines.empty()) return "no named baselines\n";
  return data_table_text(baselines_data(baselines), Paint(style.color), line_width(style), 0);
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
