#pragma once

#include <string>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/measured.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// What the catalogue says of the network between two nodes of a run.
struct RatedLink {
  double gb_per_s = 0;    ///< of a node, 1e9 B/s: rdma_gbps / 8 where the ranks went over RDMA, else ethernet_gbps / 8
  std::string in_words;   ///< "200 GB/s of a Standard_ND96asr_v4 (RDMA, 1,600 Gb/s a node, 200 a GPU)"
};

/// Missing with the reason: one node, no SKU, an emulated or unproved network, no rate in the catalogue.
Measured<RatedLink> rated_link(const store::RunRecord& run, const SkuCatalogue& catalogue);

/// Of a collective of all ranks. The bus bandwidth of a ring is what each node sends, so that it is compared with the rate of a node
/// (nccl-tests, PERFORMANCE.md); what all_to_all's says is not what leaves a node of several ranks: missing.
Measured<double> share_of_link(const std::string& function, double busbw_gb_per_s, const RatedLink& link);

/// "all_reduce of 1.07 GB reaches 160 GB/s of bus bandwidth, 80.0% of ...": share_of_link() in words. `bytes` of the size that
/// reached most. Not for all_to_all.
std::string achieved_in_words(const std::string& function, double bytes, double busbw_gb_per_s, const RatedLink& link);

}  // namespace ddbench::analyzer
