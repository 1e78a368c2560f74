#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/catalogue/sku_catalogue.h"

namespace ddbench::analyzer {

/// Changes `skus` and `gpus` by the entries of a TOML text; see SkuCatalogue::apply.
void apply_sku_toml(std::string_view text, const std::string& origin, std::vector<Sku>& skus,
                    std::vector<GpuPeaks>& gpus);

/// Equal but for case.
bool same_name(std::string_view a, std::string_view b) noexcept;

}  // namespace ddbench::analyzer
