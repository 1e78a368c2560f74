// Horovod: gradients are announced as they become ready. A background thread wakes every cycle, agrees with
// the other ranks on those that are ready everywhere, copies as many as fit into the fusion buffer,
// all-reduces it and copies them back.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

using device::Tensor;

constexpr double kFusionMb = 64;
constexpr double kCycleMs = 1;

std::int64_t fusion_bytes(const RunCase& run_case) {
  return static_cast<std::int64_t>(strategy_number(run_case, "fusion_mb", kFusionMb, 0, 1e6) * (1 << 20));
}
double cycle_ms(const RunCase& run_case) {
  return strategy_number(run_case, "cycle_ms", kCycleMs, 0, 10'000);
}

std::int64_t fusion_buffer_bytes(const RunCase& run_case, std::int64_t gradient_bytes) {
  return std::min(fusion_bytes(run_case), gradient_bytes);
}

class Horovod final : public Strategy {
 public:
  explicit Horovod(const StrategySite& site)
      : Strategy(site),
        fusion_bytes_(fusion_bytes(site.run_case)),
        cycle_(static_cast<std::int64_t>(cycle_ms(site.run_case) * 1e6)),
        fuse_name_(site.probe.intern("fuse")),
        unfuse_name_(site.probe.intern("unfuse")),
        values_(site.specs, site.device, device::MemoryUse::kParameters),
        gradients_(site.specs, site.device, device::MemoryUse::kGradients),
        ready_(site.specs.size()),
        counts_(static_cast<std::size_t>(site.world_size)) {
    std::int64_t total = 0;
    for (const std::int64_t bytes : bytes_of(site.specs)) total += bytes;
    const std::int64_t fused = fusion_buffer_bytes(site.run_case, total) / std::int64_t{sizeof(float)};
    fusion_memory_ = site.device.allocate(fused * std::int64_t{sizeof(float)}, device::MemoryUse::kBuckets);
    fusion_ = Tensor{fusion_memory_.data(), 1, fused}.floats();
    set_parameters(values_.tensors(), gradients_.tensors(), values_.all());
    for (std::size_t i = 0; i < site.specs.size(); ++i) add_slice(i);
  }

 private:
  void begin_reduction() override {
    ready_count_.store(0, std::memory_order_relaxed);
    submit([this, step = site_.probe.step()](RecordedCollectives& collectives) {
      reduce_all(collectives, step);
    });
  }

  // Backward announces parameters in the same order on every rank, so a count identifies which are ready.
  void reduce_when_ready(std::size_t parameter) override {
    const std::size_t count = ready_count_.load(std::memory_order_relaxed);
    ready_[count] = parameter;
    ready_count_.store(count + 1, std::memory_order_release);
  }

  // What follows runs on the communication thread.

  void reduce_all(RecordedCollectives& collectives, std::uint32_t step) {
    std::uint16_t fusions = 0;
    for (std::size_t reduced = 0; reduced < ready_.size();) {
      const auto begin = std::chrono::steady_clock::now();
      const std::size_t agreed = negotiate(collectives, {step, kNoBucket});
      while (reduced < agreed) {
        const std::size_t end = end_of_fusion(reduced, agreed);
        reduce(collectives, reduced, end, {step, fusions++});
        reduced = end;
      }
      if (reduced < ready_.size()) std::this_thread::sleep_until(begin + cycle_);
    }
  }

  /// How many gradients are ready on every rank.
  std::size_t negotiate(RecordedCollectives& collectives, Place place) {
    own_count_ = static_cast<float>(ready_count_.load(std::memory_order_acquire));
    collectives.negotiate(std::span(&own_count_, 1), counts_, place);
    return static_cast<std::size_t>(*std::min_element(counts_.begin(), counts_.end()));
  }

  std::int64_t bytes_of_ready(std::size_t position) const { return gradient_of(ready_[position]).bytes(); }

  std::size_t end_of_fusion(std::size_t begin, std::size_t agreed) const {
    std::int64_t bytes = bytes_of_ready(begin);
    std::size_t end = begin + 1;
    while (end < agreed && bytes + bytes_of_ready(end) <= fusion_bytes_) bytes += bytes_of_ready(end++);
    return end;
  }

  void reduce(RecordedCollectives& collectives, std::size_t begin, std::size_t end, Place place) {
    if (end == begin + 1) {  // nothing to fuse: reduced where it lies
      const std::span<float> gradient = gradient_of(ready_[begin]).floats();
      collectives.all_reduce_sum(gradient, place);
      average(gradient);
      return;
    }
    std::size_t used = 0;
    for (std::size_t i = begin; i < end; ++i) used += gradient_of(ready_[i]).floats().size();
    const std::span<float> fused = fusion_.first(used);
    {
      const auto span = collectives.copy(fuse_name_, static_cast<std::int64_t>(fused.size_bytes()), place);
      copy_each(begin, end, [&](std::span<float> gradient, std::size_t at) {
        std::memcpy(&fused[at], gradient.data(), gradient.size_bytes());
      });
    }
    collectives.all_reduce_sum(fused, place);
    const auto span = collectives.copy(unfuse_name_, static_cast<std::int64_t>(fused.size_bytes()), place);
    average(fused);
    copy_each(begin, end, [&](std::span<float> gradient, std::size_t at) {
      std::memcpy(gradient.data(), &fused[at], gradient.size_bytes());
    });
  }

  template <typename Copy>
  void copy_each(std::size_t begin, std::size_t end, Copy&& copy) {
    std::size_t at = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<float> gradient = gradient_of(ready_[i]).floats();
      copy(gradient, at);
      at += gradient.size();
    }
  }

  void average(std::span<float> values) const {
    const float share = 1.0F / static_cast<float>(site_.world_size);
    for (float& value : values) value *= share;
  }

  const std::int64_t fusion_bytes_;
  const std::chrono::nanoseconds cycle_;
  const std::uint32_t fuse_name_;
  const std::uint32_t unfuse_name_;
  ParameterMemory values_;
  ParameterMemory gradients_;
  device::Buffer fusion_memory_;
  std::span<float> fusion_;
  std::vector<std::size_t> ready_;  // parameters in the order in which they became ready
  std::atomic<std::size_t> ready_count_{0};
  float own_count_ = 0;
  std::vector<float> counts_;
};

StrategyTraffic traffic(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  const double n = run_case.world_size();
  return all_ranks_alike("2 (n-1)/n S", 2 * (n - 1) / n * static_cast<double>(sum_of(parameter_bytes)));
}

device::MemoryByUse memory(const RunCase& run_case, const ParameterSizes& parameters, int) {
  const std::int64_t bytes = sum_of(parameters.bytes);
  device::MemoryByUse memory;
  memory[device::MemoryUse::kParameters] = ParameterMemory::bytes_for(parameters.bytes);
  memory[device::MemoryUse::kGradients] =
      ParameterMemory::bytes_for(parameters.bytes) + accumulator_bytes(run_case, bytes);
  memory[device::MemoryUse::kOptimizer] = state_bytes(run_case, bytes);
  memory[device::MemoryUse::kBuckets] = fusion_buffer_bytes(run_case, bytes) / 4 * 4;
  return memory;
}

}  // namespace

StrategyInfo horovod_strategy() {
  return {.name = "horovod",
          .description = "Horovod: gradients that are ready on all ranks are fused, once a cycle",
          .options = {{"fusion_mb", "64", "MiB of the fusion buffer; 0: gradients are reduced one by one"},
                      {"cycle_ms", "1", "milliseconds between two looks at which gradients are ready"}},
          .check =
              [](const RunCase& run_case) {
                fusion_bytes(run_case);
                cycle_ms(run_case);
              },
          .make = [](const StrategySite& site) -> std::unique_ptr<Strategy> {
            return std::make_unique<Horovod>(site);
          },
          .traffic = traffic,
          .memory = memory,
          .needs_host_memory = true};
}

}  // namespace ddbench::ddp
