#include "reports/formats/terminal/sku_text.h"

#include "reports/formats/terminal/layout/data_table_text.h"
#include "reports/formats/terminal/layout/paint.h"
#include "reports/tables/sku_data.h"

namespace ddbench::reports {

std::string skus_text(const std::vector<analyzer::Sku>& skus, const TextStyle& style) {
  return data_table_text(skus_data(skus), Paint(style.color), line_width(style), 0);
}

}  // namespace ddbench::reports
