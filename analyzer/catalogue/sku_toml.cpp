#include "analyzer/catalogue/sku_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.h"
#include "core/library_error/toml.h"

namespace ddbench::analyzer {
namespace {

constexpr double kMostOfAnything = 1e9;

/// One [[sku]] or [[gpu]] of a file, whose fields are taken one by one; what is left at the end is not known.
class Entry {
 public:
  Entry(toml::table& table, std::string origin, const char* kind)
      : table_(table), origin_(std::move(origin)), kind_(kind) {
    take("name", name_);
    if (name_.empty()) fail(table_.source(), "has no name");
  }

  const std::string& name() const noexcept { return name_; }

  void take(const char* key, std::string& value) {
    with(key, [&](const toml::node& node) {
      if (!node.is_string()) fail(node.source(), fmt::format("{} must be a text in quotes", key));
      value = *node.value<std::string>();
    });
  }
  void take(const char* key, bool& value) {
    with(key, [&](const toml::node& node) {
      if (!node.is_boolean()) fail(node.source(), fmt::format("{} must be true or false", key));
      value = *node.value<bool>();
    });
  }
  void take(const char* key, int& value) {
    with(key, [&](const toml::node& node) {
      if (!node.is_integer()) fail(node.source(), fmt::format("{} must be a whole number", key));
      value = static_cast<int>(number(key, node));
    });
  }
  void take(const char* key, Measured<double>& value) {
    with(key, [&](const toml::node& node) { value = number(key, node); });
  }
  void take(const char* key, std::map<std::string, double>& value) {
    with(key, [&](const toml::node& node) {
      const toml::table* peaks = node.as_table();
      if (peaks == nullptr)
        fail(node.source(), fmt::format("{} must be a table such as {{ fp32 = 19.5 }}", key));
      for (const auto& [precision, peak] : *peaks) {
        const std::string field = fmt::format("{}.{}", key, std::string_view(precision));
        const double tflops = number(field.c_str(), peak);
        if (tflops <= 0) fail(peak.source(), fmt::format("{} is {}, but a peak is above 0", field, tflops));
        value[std::string(std::string_view(precision))] = tflops;
      }
    });
  }

  void refuse_what_is_left() const {
    for (const auto& [key, node] : table_) {
      fail(node.source(), fmt::format("has no field \"{}\"", std::string_view(key)));
    }
  }

  [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}:{}: {} {}: {}", origin_, where.begin.line, kind_,
                            name_.empty() ? "(unnamed)" : name_, what),
                0, origin_);
  }
  toml::source_region source() const { return table_.source(); }

 private:
  template <typename Use>
  void with(const char* key, Use&& use) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    use(*node);
    table_.erase(key);
  }

  double number(const char* key, const toml::node& node) const {
    if (!node.is_number()) fail(node.source(), fmt::format("{} must be a number", key));
    const double value = *node.value<double>();
    if (!std::isfinite(value) || value < 0 || value > kMostOfAnything) {
      fail(node.source(),
           fmt::format("{} is {}, but it must be from 0 to {:.0f}", key, value, kMostOfAnything));
    }
    return value;
  }

  toml::table& table_;
  std::string origin_;
  const char* kind_;
  std::string name_;
};

template <typename Item>
Item& item_of(std::vector<Item>& items, const std::string& name) {
  for (Item& item : items) {
    if (same_name(item.name, name)) return item;
  }
  Item& added = items.emplace_back();
  added.name = name;
  return added;
}

void apply_gpu(Entry& entry, std::vector<GpuPeaks>& gpus) {
  GpuPeaks& gpu = item_of(gpus, entry.name());
  entry.take("peak_tflops", gpu.peak_tflops);
  entry.take("memory_gb_per_s", gpu.memory_gb_per_s);
  entry.take("measured_bf16_tflops", gpu.measured_bf16_tflops);
  entry.take("source", gpu.source.name);
  entry.take("date", gpu.source.date);
  entry.take("verified", gpu.source.verified);
  entry.take("note", gpu.source.note);
  entry.refuse_what_is_left();
}

void apply_price(Entry& entry, const std::string& origin, Sku& sku) {
  Measured<double> price = Measured<double>::missing("");
  entry.take("price_usd_per_h", price);
  if (price) {
    sku.price_usd_per_h = price;
    sku.price_source = {origin, "", false, ""};
  }
  Measured<double> spot_price = Measured<double>::missing("");
  Measured<double> preemptions = Measured<double>::missing("");
  entry.take("spot_price_usd_per_h", spot_price);
  entry.take("preemptions_per_h", preemptions);
  if (preemptions) {
    sku.preemptions_per_h = preemptions;
    sku.rate_is_stated = true;
  }
  if (spot_price) {
    sku.spot_price_usd_per_h = spot_price;
    sku.spot_source = {origin, "", true, ""};
  }
  std::string named;
  entry.take("spot_source", named);
  if (!named.empty()) {
    sku.spot_source = {named, "", false, ""};
    sku.rate_is_stated = false;
  }
  entry.take("spot_date", sku.spot_source.date);
  entry.take("spot_note", sku.spot_source.note);
  entry.take("price_source", sku.price_source.name);
  entry.take("price_date", sku.price_source.date);
  entry.take("price_note", sku.price_source.note);
}

void apply_sku(Entry& entry, const std::string& origin, std::vector<Sku>& skus,
               const std::vector<GpuPeaks>& gpus) {
  Sku& sku = item_of(skus, entry.name());
  std::string gpu, cpu;
  entry.take("gpu", gpu);
  if (!gpu.empty()) {
    if (std::none_of(gpus.begin(), gpus.end(),
                     [&](const GpuPeaks& known) { return same_name(known.name, gpu); })) {
      entry.fail(entry.source(),
                 fmt::format("gpu is \"{}\", of which there are no peaks: add a [[gpu]] of that name, or "
                             "name the model with gpu_model",
                             gpu));
    }
    sku.gpu = gpu;
  }
  entry.take("gpu_model", sku.gpu);
  entry.take("cpu", cpu);
  entry.take("cloud", sku.cloud);
  entry.take("gpus", sku.gpus);
  entry.take("gpu_memory_gb", sku.gpu_memory_gb);
  entry.take("cores", sku.cores);
  entry.take("memory_gib", sku.memory_gib);
  entry.take("sr_iov", sku.sr_iov);
  entry.take("intra_link", sku.intra_link);
  entry.take("fabric", sku.fabric);
  entry.take("rdma_gbps", sku.rdma_gbps);
  entry.take("ethernet_gbps", sku.ethernet_gbps);
  apply_price(entry, origin, sku);
  entry.take("source", sku.source.name);
  entry.take("date", sku.source.date);
  entry.take("verified", sku.source.verified);
  entry.take("note", sku.source.note);
  entry.refuse_what_is_left();
}

template <typename Apply>
void for_each_entry(toml::table& root, const char* kind, const std::string& origin, Apply&& apply) {
  toml::node* list = root.get(kind);
  if (list == nullptr) return;
  if (!list->is_array_of_tables()) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{}:{}: write each {} as [[{}]]", origin, list->source().begin.line, kind, kind), 0,
        origin);
  }
  for (toml::node& node : *list->as_array()) {
    Entry entry(*node.as_table(), origin, kind);
    apply(entry);
  }
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

void apply_sku_toml(std::string_view text, const std::string& origin, std::vector<Sku>& skus,
                    std::vector<GpuPeaks>& gpus) {
  toml::table root = parse_toml(text, origin);
  for (const auto& [key, node] : root) {
    const std::string_view name = key;
    if (name != "sku" && name != "gpu") {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}:{}: \"{}\" is not known here: a catalogue has [[sku]] and [[gpu]]",
                              origin, node.source().begin.line, name),
                  0, origin);
    }
  }
  for_each_entry(root, "gpu", origin, [&](Entry& entry) { apply_gpu(entry, gpus); });
  for_each_entry(root, "sku", origin, [&](Entry& entry) { apply_sku(entry, origin, skus, gpus); });
}

}  // namespace ddbench::analyzer
