#include "analyzer/catalogue/sku_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/catalogue/sku_toml.h"
#include "core/error.h"
#include "core/text/nearest.h"

namespace ddbench::analyzer {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kBadInput, message);
}

std::string gpus_in_words(std::size_t count) {
  return count == 0 ? "no GPU" : fmt::format("{} GPU{}", count, count == 1 ? "" : "s");
}

void require_infiniband(const Sku& sku) {
  if (!sku.rdma_gbps) return;
  if (!sku.fabric.starts_with("InfiniBand"))
    refuse(fmt::format("--network ib: {} has no InfiniBand, its network is {}", sku.name,
                       sku.fabric.empty() ? "Ethernet" : sku.fabric));
  if (!sku.sr_iov)
    refuse(fmt::format("--network ib: the InfiniBand of {} has no SR-IOV, so that NCCL cannot use it; its nodes talk over Ethernet",
                       sku.name));
}

/// "A100" of "A100 SXM 80GB".
std::string_view family(std::string_view gpu) {
  return gpu.substr(0, gpu.find(' '));
}

/// Of these SKUs the one that was probably meant by `name`, which may be short (SkuCatalogue::find_sku); empty: none.
std::string nearest_sku(std::string_view name, std::vector<std::string> known) {
  constexpr std::string_view kAzurePrefix = "Standard_";
  const std::size_t whole = known.size();
  for (std::size_t i = 0; i < whole; ++i) {
    if (known[i].starts_with(kAzurePrefix)) known.push_back(known[i].substr(kAzurePrefix.size()));
  }
  return nearest(name, known);
}

}  // namespace

void require_of_sku(const Sku& sku, const AskedOfNode& asked) {
  if (asked.gpus > sku.gpus)
    refuse(fmt::format("--gpus {}: a node of {} has {}{}", asked.gpus, sku.name, gpus_in_words(static_cast<std::size_t>(sku.gpus)),
                       sku.gpus > 0 ? fmt::format("; take more nodes with --gpus {}", sku.gpus) : "; --device cpu runs ranks on its cores"));
  if (asked.infiniband) require_infiniband(sku);
}

std::string unknown_sku(const SkuCatalogue& catalogue, std::string_view name) {
  std::vector<std::string> known;
  for (const Sku& sku : catalogue.skus()) known.push_back(sku.name);
  const std::string meant = nearest_sku(name, std::move(known));
  return fmt::format("the SKU \"{}\" has no price and no peaks, as it is not in the catalogue (`ddbench list skus`){}", name,
                     meant.empty() ? "" : fmt::format("; did you mean {}?", catalogue.find_sku(meant)->name));
}

void set_prices(SkuCatalogue& catalogue, std::span<const std::string> prices, const std::set<std::string>& skus_of_runs) {
  for (const std::string& price : prices) {
    catalogue.set_price(price);
    const std::string name = price.substr(0, price.find('='));
    const Sku* const priced = catalogue.find_sku(name);
    if (std::any_of(skus_of_runs.begin(), skus_of_runs.end(), [&](const std::string& sku) { return catalogue.find_sku(sku) == priced; }))
      continue;
    const std::string meant = nearest_sku(name, {skus_of_runs.begin(), skus_of_runs.end()});
    refuse(fmt::format("--price {}: none of the runs is on the SKU \"{}\"{}", price, name,
                       !meant.empty()         ? fmt::format("; did you mean {}?", meant)
                       : skus_of_runs.empty() ? "; they name no SKU (--sku)"
                                              : fmt::format("; they are on {}", fmt::join(skus_of_runs, ", "))));
  }
}

std::vector<std::string> contradictions(const Sku& sku, const FoundMachine& machine) {
  std::vector<std::string> found;
  if (!machine.sku.empty() && !same_name(machine.sku, sku.name))
    found.push_back(fmt::format("this machine says that it is {}, not {}", machine.sku, sku.name));
  if (machine.knows_gpus && static_cast<int>(machine.gpus.size()) != sku.gpus)
    found.push_back(fmt::format("{} has {}, but this machine has {}", sku.name, gpus_in_words(static_cast<std::size_t>(sku.gpus)),
                                gpus_in_words(machine.gpus.size())));
  for (const std::string& model : machine.gpus) {
    if (sku.gpu.empty() || model.find(family(sku.gpu)) != std::string::npos) continue;
    found.push_back(fmt::format("a GPU of {} is {}, but this machine has {}", sku.name, sku.gpu, model));
    break;
  }
  if (sku.cores && machine.cores > *sku.cores)
    found.push_back(fmt::format("{} has {:g} cores, but this machine has {}", sku.name, *sku.cores, machine.cores));
  return found;
}

}  // namespace ddbench::analyzer
