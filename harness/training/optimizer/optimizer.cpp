#include "harness/training/optimizer/optimizer.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "harness/training/optimizer/offloaded.h"

namespace ddbench::ddp {
namespace {

using device::AdamSettings;
using device::Device;
using device::Tensor;
using workload::Probe;

constexpr double kTrustCoefficient = 0.001;  // LARS
constexpr double kLambEpsilon = 1e-6;

/// One zeroed vector for each slice, as long as it.
class StateVectors {
 public:
  StateVectors(const std::vector<Slice>& slices, Device& device) {
    for (const Slice& slice : slices) {
      memory_.push_back(device.allocate(slice.value.bytes(), device::MemoryUse::kOptimizer));
      tensors_.push_back({memory_.back().data(), 1, slice.value.elements()});
    }
  }
  const Tensor& operator[](std::size_t slice) const { return tensors_[slice]; }

 private:
  std::vector<device::Buffer> memory_;
  std::vector<Tensor> tensors_;
};

class OptimizerBase : public Optimizer {
 public:
  OptimizerBase(const RunCase& run_case, std::vector<Slice> slices, Device& device, Probe& probe)
      : momentum_(static_cast<float>(run_case.momentum)),
        weight_decay_(static_cast<float>(run_case.weight_decay)),
        device_(device),
        slices_(std::move(slices)),
        probe_(probe),
        name_(probe.intern(run_case.optimizer)),
        upload_name_(probe.intern("upload_settings")) {}

  Device& state_device() override { return device_; }

 protected:
  auto span_of(std::int64_t bytes) {
    return device_.is_host() ? probe_.host_span(SpanKind::kOptimizer, name_, bytes) : probe_.span(SpanKind::kOptimizer, name_, bytes);
  }
  auto span(std::size_t slice) { return span_of(slices_[slice].value.bytes()); }
  auto upload_span() { return probe_.span(SpanKind::kCopy, upload_name_, sizeof(AdamSettings)); }
  void append_state(const StateVectors& vectors, const char* what, std::vector<NamedTensor>& state) const {
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      state.push_back({fmt::format("{}/{}", slices_[i].name, what), vectors[i]});
    }
  }
  /// Weight decay and layer-wise scaling are for matrices (You et al.).
  float decay_of_layer(std::size_t slice) const { return slices_[slice].is_matrix ? weight_decay_ : 0; }

  const float momentum_;
  const float weight_decay_;
  Device& device_;
  const std::vector<Slice> slices_;

 private:
  Probe& probe_;
  const std::uint32_t name_;
  const std::uint32_t upload_name_;
};

class Sgd : public OptimizerBase {
 public:
  Sgd(const RunCase& run_case, std::vector<Slice> slices, Device& device, Probe& probe)
      : OptimizerBase(run_case, std::move(slices), device, probe), velocities_(slices_, device) {}

  void update(std::size_t slice, std::uint32_t, double lr) override {
    const auto timed = span(slice);
    step(slice, lr, weight_decay_, 1);
  }
  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> state;
    append_state(velocities_, "velocity", state);
    return state;
  }

 protected:
  void step(std::size_t slice, double lr, float weight_decay, double trust_ratio) {
    device_.sgd(slices_[slice].value, slices_[slice].gradient, velocities_[slice],
                {.lr = static_cast<float>(lr),
                 .momentum = momentum_,
                 .weight_decay = weight_decay,
                 .trust_ratio = static_cast<float>(trust_ratio)});
  }

 private:
  StateVectors velocities_;
};

class Lars final : public Sgd {
 public:
  using Sgd::Sgd;
  void update(std::size_t slice, std::uint32_t, double lr) override {
    const auto timed = span(slice);
    step(slice, lr, decay_of_layer(slice), trust_ratio(slice));
  }

 private:
  double trust_ratio(std::size_t slice) {
    if (!slices_[slice].is_matrix) return 1;
    const double weight = std::sqrt(device_.squared_norm(slices_[slice].value));
    const double gradient = std::sqrt(device_.squared_norm(slices_[slice].gradient));
    const double divisor = gradient + static_cast<double>(weight_decay_) * weight;
    return weight > 0 && divisor > 0 ? kTrustCoefficient * weight / divisor : 1;
  }
};

class AdamW : public OptimizerBase {
 public:
  AdamW(const RunCase& run_case, std::vector<Slice> slices, Device& device, Probe& probe)
      : OptimizerBase(run_case, std::move(slices), device, probe), m_(slices_, device), v_(slices_, device) {}

  void update(std::size_t slice, std::uint32_t updates, double lr) override {
    const auto timed = span(slice);
    device_.adamw(slices_[slice].value, slices_[slice].gradient, m_[slice], v_[slice],
                  settings(updates, weight_decay_), static_cast<float>(lr));
  }
  void update_each(std::size_t first, std::size_t end, std::uint32_t updates, double lr) override {
    // On a host each parameter has a span of its own; there is nothing to gain.
    if (device_.is_host() || first == end) return Optimizer::update_each(first, end, updates, lr);
    std::vector<Device::AdamTensors> tensors;
    std::int64_t bytes = 0;
    for (std::size_t i = first; i < end; ++i) {
      tensors.push_back({slices_[i].value, slices_[i].gradient, m_[i], v_[i]});
      bytes += slices_[i].value.bytes();
    }
    const auto timed = span_of(bytes);
    device_.adamw_each(tensors, settings(updates, weight_decay_), static_cast<float>(lr));
  }
  bool can_be_captured() const override { return !device_.is_host(); }
  void prepare(std::uint32_t updates, double lr) override {
    const auto timed = upload_span();
    device_.set_adamw(settings(updates, weight_decay_), static_cast<float>(lr));
  }
  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> state;
    append_state(m_, "m", state);
    append_state(v_, "v", state);
    return state;
  }

 protected:
  static AdamSettings settings(std::uint32_t updates, float weight_decay) {
    AdamSettings settings;
    settings.weight_decay = weight_decay;
    const double t = static_cast<double>(updates) + 1;
    settings.correction1 = static_cast<float>(1 - std::pow(0.9, t));
    settings.correction2 = static_cast<float>(1 - std::pow(0.999, t));
    return settings;
  }

  StateVectors m_;
  StateVectors v_;
};

class Lamb final : public AdamW {
 public:
  using AdamW::AdamW;
  void update_each(std::size_t first, std::size_t end, std::uint32_t updates, double lr) override {
    Optimizer::update_each(first, end, updates, lr);
  }
  bool can_be_captured() const override { return false; }  // the host computes with norms
  void update(std::size_t slice, std::uint32_t updates, double lr) override {
    const auto timed = span(slice);
    const Slice& layer = slices_[slice];
    AdamSettings lamb = settings(updates, decay_of_layer(slice));
    lamb.epsilon = static_cast<float>(kLambEpsilon);
    device_.lamb_direction(layer.value, layer.gradient, m_[slice], v_[slice], lamb);
    device_.add_scaled(layer.gradient, static_cast<float>(-lr * trust_ratio(layer)), layer.value);
  }

 private:
  double trust_ratio(const Slice& layer) {
    if (!layer.is_matrix) return 1;
    const double weight = std::sqrt(device_.squared_norm(layer.value));
    const double direction = std::sqrt(device_.squared_norm(layer.gradient));
    return weight > 0 && direction > 0 ? weight / direction : 1;
  }
};

template <typename T>
std::unique_ptr<Optimizer> make(const RunCase& run_case, std::vector<Slice> slices, Device& device,
                                Probe& probe) {
  return std::make_unique<T>(run_case, std::move(slices), device, probe);
}

struct OptimizerInfo {
  std::string_view name;
  int states;
  bool layerwise;
  std::unique_ptr<Optimizer> (*make)(const RunCase&, std::vector<Slice>, Device&, Probe&);
};

constexpr std::array<OptimizerInfo, 4> kOptimizers{{{"sgd", 1, false, make<Sgd>},
                                                    {"adamw", 2, false, make<AdamW>},
                                                    {"lars", 1, true, make<Lars>},
                                                    {"lamb", 2, true, make<Lamb>}}};

const OptimizerInfo& info_of(std::string_view name) {
  for (const OptimizerInfo& info : kOptimizers) {
    if (info.name == name) return info;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("optimizer \"{}\" is not supported; supported: {}", name, optimizer_names()));
}

}  // namespace

std::string_view optimizer_names() noexcept {
  return "sgd, adamw, lars, lamb";
}

void check_optimizer(std::string_view name) {
  info_of(name);
}

int optimizer_states(std::string_view name) {
  return info_of(name).states;
}

bool is_layerwise(std::string_view name) {
  return info_of(name).layerwise;
}

bool is_offloaded(const RunCase& run_case) {
  const auto option = run_case.strategy_options.find("offload");
  if (option == run_case.strategy_options.end() || option->second == "none") return false;
  if (option->second == "optimizer") return true;
  throw Error(ErrorCode::kBadInput, fmt::format("strategy {}: offload is \"{}\", but it must be none or optimizer", run_case.strategy, option->second));
}

std::int64_t offloaded_bytes(const RunCase& run_case, std::int64_t value_bytes) {
  return is_offloaded(run_case) ? (optimizer_states(run_case.optimizer) + 2) * value_bytes : 0;
}

std::unique_ptr<Optimizer> make_optimizer(const RunCase& run_case, std::vector<Slice> slices, Device& device,
                                          Probe& probe) {
  const OptimizerInfo& info = info_of(run_case.optimizer);
  for (const Slice& slice : slices) {
    if (!info.layerwise || slice.is_whole) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("optimizer {} needs whole parameters, but this rank has {}",
                                                  info.name, slice.name));
  }
  const auto make_on = [&](std::vector<Slice> of, Device& where) { return info.make(run_case, std::move(of), where, probe); };
  return is_offloaded(run_case) ? make_offloaded(std::move(slices), device, probe, make_on) : make_on(std::move(slices), device);
}

}  // namespace ddbench::ddp
