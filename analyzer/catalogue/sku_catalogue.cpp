#include "analyzer/catalogue/sku_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analyzer/catalogue/builtin_skus.h"
#include "analyzer/catalogue/sku_toml.h"
#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::analyzer {
namespace {

constexpr double kHighestPrice_usd_per_h = 1e6;

/// Where a user keeps a catalogue; empty when nowhere.
std::filesystem::path user_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (const auto named = variable("DDBENCH_SKUS"); !named.empty()) return named;
  const auto config = variable("XDG_CONFIG_HOME");
  const auto home = variable("HOME");
  if (config.empty() && home.empty()) return {};
  const auto file = (config.empty() ? home / ".config" : config) / "ddbench" / "skus.toml";
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) ? file : std::filesystem::path();
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || std::filesystem::is_directory(file) || !(text << stream.rdbuf())) {
    throw Error(ErrorCode::kBadInput, fmt::format("the SKU catalogue {} cannot be read", file.string()),
                errno, file.string());
  }
  return text.str();
}

[[noreturn]] void throw_bad_price(std::string_view text) {
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "the price \"{}\" is not understood: write NAME=USD_PER_HOUR of a node, optionally followed by "
          ",spot=USD_PER_HOUR and ,preemptions=PER_HOUR",
          text));
}

double price_number(std::string_view digits, std::string_view text) {
  const auto value = number_from<double>(digits);
  if (!value || *value < 0 || *value > kHighestPrice_usd_per_h) throw_bad_price(text);
  return *value;
}

}  // namespace

Measured<double> Sku::rdma_gbps_per_gpu() const {
  if (!rdma_gbps) return rdma_gbps;
  return gpus > 0 ? Measured<double>(*rdma_gbps / gpus) : Measured<double>::missing("it has no GPU");
}

std::string source_in_words(const Source& source) {
  std::string text;
  for (const std::string& part : {source.name, source.date, source.note}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

SkuCatalogue SkuCatalogue::builtin() {
  SkuCatalogue catalogue;
  catalogue.apply(builtin_skus(), "the built-in SKU catalogue");
  return catalogue;
}

SkuCatalogue SkuCatalogue::load(const std::filesystem::path& file) {
  SkuCatalogue catalogue = builtin();
  const std::filesystem::path chosen = file.empty() ? user_file() : file;
  if (!chosen.empty()) catalogue.apply(read_text(chosen), chosen.string());
  return catalogue;
}

void SkuCatalogue::apply(std::string_view toml, const std::string& origin) {
  SkuCatalogue changed = *this;
  apply_sku_toml(toml, origin, changed.skus_, changed.gpus_);
  *this = std::move(changed);
}

void SkuCatalogue::set_price(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) throw_bad_price(text);
  const std::string_view name = text.substr(0, equals);
  std::string_view rest = text.substr(equals + 1);
  const Sku* const found = find_sku(name);
  Sku sku = found == nullptr ? Sku{} : *found;
  if (found == nullptr) sku.name = name;
  for (bool first = true; first || !rest.empty(); first = false) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (first) {
      sku.price_usd_per_h = price_number(part, text);
      sku.price_source = {"--price", "", true, ""};
    } else if (part.rfind("spot=", 0) == 0) {
      sku.spot_price_usd_per_h = price_number(part.substr(5), text);
      sku.spot_source = {"--price", "", true, ""};
    } else if (part.rfind("preemptions=", 0) == 0) {
      sku.preemptions_per_h = price_number(part.substr(12), text);
      sku.rate_is_stated = true;
    } else {
      throw_bad_price(text);
    }
  }
  if (found == nullptr) {
    skus_.push_back(std::move(sku));
  } else {
    skus_[static_cast<std::size_t>(found - skus_.data())] = std::move(sku);
  }
}

const Sku* SkuCatalogue::find_sku(std::string_view name) const noexcept {
  constexpr std::string_view kAzurePrefix = "Standard_";
  auto found = std::find_if(skus_.begin(), skus_.end(), [&](const Sku& sku) { return same_name(sku.name, name); });
  if (found == skus_.end()) {
    found = std::find_if(skus_.begin(), skus_.end(), [&](const Sku& sku) {
      return sku.name.starts_with(kAzurePrefix) && same_name(std::string_view(sku.name).substr(kAzurePrefix.size()), name);
    });
  }
  return found == skus_.end() ? nullptr : &*found;
}

const GpuPeaks* SkuCatalogue::find_gpu(std::string_view name) const noexcept {
  const auto found = std::find_if(gpus_.begin(), gpus_.end(),
                                  [&](const GpuPeaks& gpu) { return same_name(gpu.name, name); });
  return found == gpus_.end() ? nullptr : &*found;
}

Measured<double> SkuCatalogue::peak_tflops(std::string_view name, const std::string& precision) const {
  using Peak = Measured<double>;
  if (name.empty()) return Peak::missing("the run names no SKU (--sku)");
  const Sku* found = find_sku(name);
  if (found == nullptr) return Peak::missing(fmt::format("the SKU \"{}\" is not in the catalogue", name));
  const GpuPeaks* gpu = find_gpu(found->gpu);
  if (gpu == nullptr) {
    return Peak::missing(found->gpu.empty() ? fmt::format("{} has no GPU", found->name)
                                            : fmt::format("the catalogue has no peaks of {}", found->gpu));
  }
  if (precision.empty()) return Peak::missing("the precision of the run is not known");
  const auto peak = gpu->peak_tflops.find(precision);
  if (peak == gpu->peak_tflops.end()) {
    return Peak::missing(fmt::format("the catalogue has no {} peak of {}", precision, gpu->name));
  }
  return peak->second;
}

double flops_utilization(double samples_per_s, double flops_per_sample, int gpus, double peak_tflops) {
  if (!(samples_per_s > 0) || !(flops_per_sample > 0) || gpus < 1 || !(peak_tflops > 0)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("no utilisation of {} samples/s x {} FLOP on {} GPUs of {} TFLOP/s: all must be above 0",
                    samples_per_s, flops_per_sample, gpus, peak_tflops));
  }
  return samples_per_s * flops_per_sample / (gpus * peak_tflops * 1e12);
}

}  // namespace ddbench::analyzer
