// TensorFlow's MultiWorkerMirroredStrategy: gradients are concatenated into packs, each pack is all-reduced
// as a ring when its last gradient is there, and cut up again. bytes_per_pack is 0 by default: one pack, so
// that nothing overlaps with backward.
#include <algorithm>

#include "harness/training/optimizer/bucket_plan.h"
#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/bucket_order.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

using device::Tensor;

std::int64_t pack_bytes(const RunCase& run_case) {
  return static_cast<std::int64_t>(strategy_number(run_case, "pack_mb", 0, 0, 1e6) * (1 << 20));
}

std::vector<Bucket> plan_packs(const StrategySite& site) {
  const std::int64_t bytes = pack_bytes(site.run_case);
  const std::int64_t cap = bytes == 0 ? std::int64_t{1} << 60 : bytes;
  return plan_buckets(bytes_of(site.specs), cap, cap);
}

class Mirrored final : public Strategy {
 public:
  explicit Mirrored(const StrategySite& site)
      : Strategy(site),
        pack_name_(site.probe.intern("pack")),
        unpack_name_(site.probe.intern("unpack")),
        average_name_(site.probe.intern("average_gradients")),
        plan_(plan_packs(site)),
        order_(plan_, site.specs.size()),
        values_(site.specs, site.device, device::MemoryUse::kParameters),
        gradients_(site.specs, site.device, device::MemoryUse::kGradients) {
    for (const Bucket& bucket : plan_) {
      const std::int64_t count = elements_of(bucket, site.specs);
      pack_memory_.push_back(site.device.allocate(count * std::int64_t{sizeof(float)}, device::MemoryUse::kBuckets));
      packs_.push_back({pack_memory_.back().data(), 1, count});
    }
    set_parameters(values_.tensors(), gradients_.tensors(), values_.all());
    for (std::size_t i = 0; i < site.specs.size(); ++i) add_slice(i);
  }

 private:
  void begin_reduction() override { order_.begin(); }
  void reduce_when_ready(std::size_t parameter) override {
    order_.on_ready(parameter, [this](std::size_t pack) { launch(pack); });
  }

  void launch(std::size_t pack) {
    const auto number = static_cast<std::uint16_t>(pack);
    {
      const auto span = site_.probe.span(SpanKind::kCopy, pack_name_, packs_[pack].bytes(), number);
      for_each(pack,
               [this](const Tensor& part, const Tensor& gradient) { site_.device.copy(gradient, part); });
    }
    if (site_.world_size > 1) {
      const auto span = site_.probe.span(SpanKind::kBackward, average_name_, packs_[pack].bytes(), number);
      site_.device.scale(packs_[pack], 1.0F / static_cast<float>(site_.world_size));
    }
    if (site_.graphs.capturing()) return site_.graphs.all_reduce(elements(packs_[pack]), number);
    submit([data = elements(packs_[pack]), where = place(pack)](RecordedCollectives& collectives) {
      collectives.all_reduce_sum(data, where);
    });
  }

  void finish_reduction() override {
    for (std::size_t pack = 0; pack < packs_.size(); ++pack) {
      const auto span = site_.probe.span(SpanKind::kCopy, unpack_name_, packs_[pack].bytes(),
                                         static_cast<std::uint16_t>(pack));
      for_each(pack,
               [this](const Tensor& part, const Tensor& gradient) { site_.device.copy(part, gradient); });
    }
  }

  /// Each gradient of a pack with its place in it, as vectors.
  template <typename Visit>
  void for_each(std::size_t pack, Visit&& visit) {
    std::int64_t first = 0;
    for (const std::size_t parameter : plan_[pack]) {
      const Tensor& gradient = gradient_of(parameter);
      visit(packs_[pack].part(first, gradient.elements()), gradient.part(0, gradient.elements()));
      first += gradient.elements();
    }
  }

  const std::uint32_t pack_name_;
  const std::uint32_t unpack_name_;
  const std::uint32_t average_name_;
  const std::vector<Bucket> plan_;
  BucketOrder order_;
  ParameterMemory values_;
  ParameterMemory gradients_;
  std::vector<device::Buffer> pack_memory_;
  std::vector<Tensor> packs_;
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
  memory[device::MemoryUse::kBuckets] = bytes;
  return memory;
}

}  // namespace

StrategyInfo mirrored_strategy() {
  return {.name = "mirrored",
          .description = "TensorFlow MultiWorkerMirroredStrategy: packed ring all-reduce",
          .options = {{"pack_mb", "0",
                       "MiB of a pack of gradients; 0: one pack, nothing overlaps with backward"}},
          .check = [](const RunCase& run_case) { pack_bytes(run_case); },
          .make = [](const StrategySite& site) -> std::unique_ptr<Strategy> {
            return std::make_unique<Mirrored>(site);
          },
          .traffic = traffic,
          .memory = memory};
}

}  // namespace ddbench::ddp
