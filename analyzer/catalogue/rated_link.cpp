#include "analyzer/catalogue/rated_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "analyzer/catalogue/sku_catalogue.h"
#include "core/text/quantity.h"

namespace ddbench::analyzer {
namespace {

constexpr double kBitsPerByte = 8;

constexpr std::string_view kRdma[] = {"infiniband", "ib", "roce", "efa"};
constexpr std::string_view kEthernet[] = {"socket", "ethernet", "tcp"};

/// As core/run_case/records.h names what was proved, or as a user named it with an import.
bool is_one_of(std::span<const std::string_view> names, const std::string& network) {
  return std::find(names.begin(), names.end(), network) != names.end();
}

}  // namespace

Measured<RatedLink> rated_link(const store::RunRecord& run, const SkuCatalogue& catalogue) {
  using Link = Measured<RatedLink>;
  if (run.run_case.nodes_not_stated) return Link::missing("the source does not state how its ranks sit on nodes");
  if (run.run_case.nodes < 2) return Link::missing("one node: no network between nodes");
  if (run.provenance.has(Provenance::kEmulatedNetwork)) return Link::missing("the network is emulated");
  if (run.run_case.sku.empty()) return Link::missing("the run names no SKU (--sku)");
  const Sku* const sku = catalogue.find_sku(run.run_case.sku);
  if (sku == nullptr) return Link::missing(fmt::format("the SKU \"{}\" is not in the catalogue", run.run_case.sku));
  const std::string& network = run.environment.network;
  if (network.empty()) return Link::missing("which network the ranks used was not proved");
  const bool rdma = is_one_of(kRdma, network);
  if (!rdma && !is_one_of(kEthernet, network)) return Link::missing(fmt::format("whether {} is RDMA is not known", network));
  const Measured<double>& rate = rdma ? sku->rdma_gbps : sku->ethernet_gbps;
  if (!rate || *rate <= 0)
    return Link::missing(fmt::format("the catalogue has no {} rate of {}", rdma ? "RDMA" : "Ethernet", sku->name));
  RatedLink link;
  link.gb_per_s = *rate / kBitsPerByte;
  link.in_words = fmt::format("the {:g} GB/s that a node of {} is rated at ({}, {:g} Gb/s a node", link.gb_per_s, sku->name,
                              rdma ? "RDMA" : "Ethernet", *rate);
  if (rdma && sku->rdma_gbps_per_gpu()) link.in_words += fmt::format(", {:g} a GPU", *sku->rdma_gbps_per_gpu());
  link.in_words += ")";
  return link;
}

Measured<double> share_of_link(const std::string& function, double busbw_gb_per_s, const RatedLink& link) {
  if (function == "all_to_all") return Measured<double>::missing("ranks of one node exchange a part of it: it is no rate of a link");
  return busbw_gb_per_s / link.gb_per_s;
}

std::string achieved_in_words(const std::string& function, double bytes, double busbw_gb_per_s, const RatedLink& link) {
  const double share = *share_of_link(function, busbw_gb_per_s, link);
  std::string text = fmt::format("{} of {} reaches {:.3g} GB/s of bus bandwidth, {:.1f}% of {}", function, quantity(bytes, "B"),
                                 busbw_gb_per_s, 100 * share, link.in_words);
  if (share > 1) text += "; more than the link gives: reduced in the network (SHARP, NVLS), or the SKU is another one";
  return text;
}

}  // namespace ddbench::analyzer
