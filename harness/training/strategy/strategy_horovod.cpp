// Horovod: gradients are announced as they become ready. A background thread wakes every cycle, agrees with
// the other ranks on those that are ready everywhere, copies as many as fit into the fusion buffer,
// all-reduces it and copies them back.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

using device::Tensor;

// The defaults of Horovod since 0.21.
constexpr double kFusionMb = 128;
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
        share_(1.0F / static_cast<float>(site.world_size)),
        fuse_name_(site.probe.intern("fuse")),
        unfuse_name_(site.probe.intern("unfuse")),
        values_(site.specs, site.device, device::MemoryUse::kParameters),
        gradients_(site.specs, site.device, device::MemoryUse::kGradients),
        ready_(site.specs.size()),
        counts_(static_cast<std::size_t>(site.world_size)),
        copies_(site.device.side_queue()) {
    std::int64_t total = 0;
    for (const std::int64_t bytes : bytes_of(site.specs)) total += bytes;
    const std::int64_t fused = fusion_buffer_bytes(site.run_case, total) / std::int64_t{sizeof(float)};
    fusion_memory_ = site.device.allocate(fused * std::int64_t{sizeof(float)}, device::MemoryUse::kBuckets);
    fusion_ = Tensor{fusion_memory_.data(), 1, fused};
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

  // Backward announces parameters in the same order on every rank, so a count identifies which are ready. As in Horovod, a
  // gradient is announced when its operators are queued, and awaited before it is used.
  void reduce_when_ready(std::size_t parameter) override {
    const std::size_t count = ready_count_.load(std::memory_order_relaxed);
    ready_[count] = {gradient_of(parameter).part(0, gradient_of(parameter).elements()), site_.device.mark()};
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

  std::size_t end_of_fusion(std::size_t begin, std::size_t agreed) const {
    std::int64_t bytes = ready_[begin].gradient.bytes();
    std::size_t end = begin + 1;
    while (end < agreed && bytes + ready_[end].gradient.bytes() <= fusion_bytes_) bytes += ready_[end++].gradient.bytes();
    return end;
  }

  void reduce(RecordedCollectives& collectives, std::size_t begin, std::size_t end, Place place) {
    site_.device.wait_for(ready_[end - 1].mark);
    if (end == begin + 1) {  // nothing to fuse: reduced where it lies
      const Tensor& gradient = ready_[begin].gradient;
      collectives.all_reduce_sum(elements(gradient), place);
      const auto span = collectives.copy(unfuse_name_, gradient.bytes(), place);
      average(gradient);
      return;
    }
    const Tensor fused = fuse(collectives, begin, end, place);
    collectives.all_reduce_sum(elements(fused), place);
    const auto span = collectives.copy(unfuse_name_, fused.bytes(), place);
    copies_->scale(fused, share_);
    std::int64_t at = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Tensor& gradient = ready_[i].gradient;
      copies_->copy(fused.part(at, gradient.elements()), gradient);
      at += gradient.elements();
    }
    copies_->synchronize();
  }

  /// The gradients from `begin` up to `end`, one behind the other.
  Tensor fuse(RecordedCollectives& collectives, std::size_t begin, std::size_t end, Place place) {
    std::int64_t size = 0;
    for (std::size_t i = begin; i < end; ++i) size += ready_[i].gradient.elements();
    const Tensor fused = fusion_.part(0, size);
    const auto span = collectives.copy(fuse_name_, fused.bytes(), place);
    std::int64_t at = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Tensor& gradient = ready_[i].gradient;
      copies_->copy(gradient, fused.part(at, gradient.elements()));
      at += gradient.elements();
    }
    copies_->synchronize();
    return fused;
  }

  void average(const Tensor& values) {
    copies_->scale(values, share_);
    copies_->synchronize();
  }

  struct Ready {
    Tensor gradient;  // as a vector
    std::uint64_t mark = 0;
  };

  const std::int64_t fusion_bytes_;
  const std::chrono::nanoseconds cycle_;
  const float share_;  // of a sum over the ranks, for their average
  const std::uint32_t fuse_name_;
  const std::uint32_t unfuse_name_;
  ParameterMemory values_;
  ParameterMemory gradients_;
  device::Buffer fusion_memory_;
  Tensor fusion_;
  std::vector<Ready> ready_;  // in the order in which they became ready
  std::atomic<std::size_t> ready_count_{0};
  float own_count_ = 0;
  std::vector<float> counts_;
  const std::unique_ptr<device::SideQueue> copies_;
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
          .options = {{"fusion_mb", "128", "MiB of the fusion buffer; 0: gradients are reduced one by one"},
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
          .memory = memory};
}

}  // namespace ddbench::ddp
