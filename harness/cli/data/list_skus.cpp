#include "harness/cli/data/list_skus.h"

#include <nlohmann/json.hpp>

#include "analyzer/catalogue/sku_catalogue.h"
#include "harness/cli/options/output.h"
#include "reports/formats/terminal/sku_text.h"

namespace ddbench::cli {
namespace {

using Json = nlohmann::ordered_json;

Json value(const Measured<double>& measured) {
  return measured ? Json(*measured) : Json(nullptr);
}

Json source_json(const analyzer::Source& source) {
  return {{"name", source.name}, {"date", source.date}, {"note", source.note}};
}

Json sku_json(const analyzer::Sku& sku) {
  return {{"name", sku.name},
          {"cloud", sku.cloud},
          {"gpu", sku.gpu},
          {"gpus", sku.gpus},
          {"gpu_memory_gb", value(sku.gpu_memory_gb)},
          {"cores", value(sku.cores)},
          {"memory_gib", value(sku.memory_gib)},
          {"intra_link", sku.intra_link},
          {"fabric", sku.fabric},
          {"sr_iov", sku.sr_iov},
          {"rdma_gbps_per_gpu", value(sku.rdma_gbps_per_gpu())},
          {"rdma_gbps", value(sku.rdma_gbps)},
          {"ethernet_gbps", value(sku.ethernet_gbps)},
          {"price_usd_per_h", value(sku.price_usd_per_h)},
          {"price_source", source_json(sku.price_source)},
          {"spot_price_usd_per_h", value(sku.spot_price_usd_per_h)},
          {"preemptions_per_h", value(sku.preemptions_per_h)},
          {"spot_source", source_json(sku.spot_source)},
          {"verified", sku.source.verified},
          {"source", source_json(sku.source)}};
}

}  // namespace

int list_skus(const ListSkus& options) {
  auto catalogue = analyzer::SkuCatalogue::load(options.catalogue);
  for (const std::string& price : options.prices) catalogue.set_price(price);
  if (!options.json) {
    print(reports::skus_text(catalogue.skus(), stdout_style()));
    return 0;
  }
  Json list = Json::array();
  for (const analyzer::Sku& sku : catalogue.skus()) list.push_back(sku_json(sku));
  print(list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return 0;
}

}  // namespace ddbench::cli
