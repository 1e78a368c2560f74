#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/measured.h"

namespace ddbench::analyzer {

/// Where a figure of the catalogue was read, and whether it could be checked there.
struct Source {
  std::string name;
  std::string date;
  bool verified = false;
  std::string note;
};

/// Peaks of one GPU, dense (no sparsity).
struct GpuPeaks {
  std::string name;
  std::map<std::string, double> peak_tflops;  ///< by precision: "fp32", "tf32", "fp16", "bf16", "fp8"
  Measured<double> memory_gb_per_s = Measured<double>::missing("not in the catalogue");
  Measured<double> measured_bf16_tflops = Measured<double>::missing("not in the catalogue");
  Source source;
};

/// One size of node that can be rented.
struct Sku {
  std::string name;
  std::string cloud;
  std::string
      gpu;  ///< name of its GpuPeaks where the catalogue has them, else the GPU's model; empty: no GPU
  int gpus = 0;
  Measured<double> gpu_memory_gb = Measured<double>::missing("not in the catalogue");
  Measured<double> cores = Measured<double>::missing("not in the catalogue");       ///< logical, of the host
  Measured<double> memory_gib = Measured<double>::missing("not in the catalogue");  ///< of the host
  std::string intra_link;
  std::string fabric;
  bool sr_iov = true;  ///< false: its RDMA adapter is not there as a virtual function, and NCCL cannot use it
  Measured<double> rdma_gbps = Measured<double>::missing("not in the catalogue");      ///< a node
  Measured<double> ethernet_gbps = Measured<double>::missing("not in the catalogue");  ///< what sockets get
  Measured<double> price_usd_per_h =
      Measured<double>::missing("no price in the catalogue: give one with --price");
  Measured<double> spot_price_usd_per_h = Measured<double>::missing("no spot price in the catalogue");
  Measured<double> preemptions_per_h =
      Measured<double>::missing("no preemption rate in the catalogue");  ///< a node
  Source source;                                                         ///< of the specification
  Source price_source;                                                   ///< of the price
  Source spot_source;            ///< of the spot price; not verified: it and the catalogue's preemption rate are assumptions of that date
  bool rate_is_stated = false;   ///< preemptions_per_h is the user's

  /// Whether what a spot node costs follows from an assumption of the catalogue.
  bool spot_is_assumed() const { return !spot_source.verified || (preemptions_per_h && !rate_is_stated); }

  /// Per GPU, in 1e9 bit/s; missing where the node's is.
  Measured<double> rdma_gbps_per_gpu() const;
};

/// "skypilot, 2022, eastus": source, date and note, as far as they are known.
std::string source_in_words(const Source& source);

/// SKUs and GPUs by name (case does not matter). The one in the program is skus.toml.
class SkuCatalogue {
 public:
  static SkuCatalogue builtin();
  /// The built-in one changed by `file`; without one by DDBENCH_SKUS, else $XDG_CONFIG_HOME/ddbench/skus.toml
  /// or
  /// ~/.config/ddbench/skus.toml where that exists.
  static SkuCatalogue load(const std::filesystem::path& file = {});

  /// Changes the fields that the TOML text names, or adds entries. Throws Error{kBadInput} that names
  /// `origin`, line and field on malformed TOML, an unknown field, a wrong type, a number that makes no
  /// sense, or a GPU without peaks.
  void apply(std::string_view toml, const std::string& origin);
  /// "NAME=USD_PER_HOUR" or "NAME=USD_PER_HOUR,spot=USD_PER_HOUR,preemptions=PER_HOUR": the user's own price
  /// of a node. NAME is as for find_sku; one that is not in the catalogue is added. Throws Error{kBadInput} on anything else.
  void set_price(std::string_view text);

  /// Null where the catalogue does not have it. "ND96asr_v4" is Standard_ND96asr_v4, too, unless an entry has the short name itself.
  const Sku* find_sku(std::string_view name) const noexcept;
  const GpuPeaks* find_gpu(std::string_view name) const noexcept;
  /// Dense peak of one GPU of the SKU at this precision, in TFLOP/s; missing with the reason.
  Measured<double> peak_tflops(std::string_view sku, const std::string& precision) const;

  const std::vector<Sku>& skus() const noexcept { return skus_; }
  const std::vector<GpuPeaks>& gpus() const noexcept { return gpus_; }

 private:
  std::vector<Sku> skus_;
  std::vector<GpuPeaks> gpus_;
};

/// Utilisation of devices: FLOP/s over what they could do at most. MFU with what the model needs (6 FLOPs a
/// parameter and token, attention apart), HFU with what is computed again besides (Chowdhery et al. 2022).
/// Throws Error{kBadInput} on a number that is not positive.
double flops_utilization(double samples_per_s, double flops_per_sample, int gpus, double peak_tflops);

}  // namespace ddbench::analyzer
