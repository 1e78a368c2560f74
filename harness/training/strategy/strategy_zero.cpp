// DeepSpeed's ZeRO: each rank owns a share of every bucket. Gradients are reduce-scattered to their owners,
// owners update, parameters are gathered from them. Stage 1 shards the optimizer's state; stage 2 the
// averaged gradients too, so it keeps no sum of micro-batches but its share's, and pays with a reduce-scatter
// in each.
#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/bucket_order.h"
#include "harness/training/strategy/shards.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

using device::Tensor;

class Zero final : public Strategy {
 public:
  Zero(const StrategySite& site, bool shards_gradients)
      : Strategy(site),
        shards_gradients_(shards_gradients),
        average_name_(site.probe.intern("average_gradients")),
        plan_(plan_buckets(site.run_case, site.specs)),
        order_(plan_, site.specs.size(), overlaps(site.run_case)),
        share_sums_(site.run_case.accumulate, site.device, site.probe) {
    std::int64_t total = 0;
    for (const Bucket& bucket : plan_) total += padded(elements_of(bucket, site.specs), site.world_size);
    value_memory_ = site.device.allocate(total * std::int64_t{sizeof(float)}, device::MemoryUse::kParameters);
    gradient_memory_ = site.device.allocate(total * std::int64_t{sizeof(float)}, device::MemoryUse::kGradients);
    lay_out(total);
  }

  bool updates_everything() const noexcept override { return false; }

  void update(Optimizer& optimizer, std::uint32_t updates, double lr) override {
    std::size_t slice = 0;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      optimizer.update_each(slice, shards_[i].slices_end, updates, lr);
      slice = shards_[i].slices_end;
      submit([values = elements(shards_[i].values), share = elements(shards_[i].own_values),
              where = place(i)](RecordedCollectives& collectives) {
        collectives.all_gather(share, values, where);
      });
    }
    wait();
  }

 private:
  struct Shard {  // a bucket, and this rank's part of it
    Tensor values;
    Tensor gradients;
    Tensor own_values;
    Tensor own_gradients;
    std::size_t slices_end = 0;
  };

  void lay_out(std::int64_t total) {
    const Tensor all_values{value_memory_.data(), 1, total};
    const Tensor all_gradients{gradient_memory_.data(), 1, total};
    std::vector<Tensor> values(site_.specs.size());
    std::vector<Tensor> gradients(site_.specs.size());
    std::vector<std::int64_t> first_of(site_.specs.size());  // in its bucket
    std::int64_t at = 0;
    for (const Bucket& bucket : plan_) {
      const std::int64_t size = padded(elements_of(bucket, site_.specs), site_.world_size);
      const std::int64_t share = size / site_.world_size;
      Shard& shard = shards_.emplace_back();
      shard.values = all_values.part(at, size);
      shard.gradients = all_gradients.part(at, size);
      shard.own_values = shard.values.part(site_.rank * share, share);
      shard.own_gradients = shard.gradients.part(site_.rank * share, share);
      std::int64_t first = 0;
      for (const std::size_t parameter : bucket) {
        const workload::ParameterSpec& spec = site_.specs[parameter];
        const auto shaped = [&](const Tensor& memory) {
          return Tensor{memory.part(first, spec.elements()).data, spec.rows, spec.columns};
        };
        values[parameter] = shaped(shard.values);
        gradients[parameter] = shaped(shard.gradients);
        first_of[parameter] = first;
        first += spec.elements();
      }
      at += size;
    }
    set_parameters(values, gradients, all_values);
    std::vector<Tensor> shares;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      for (const std::size_t parameter : plan_[i]) add_own_part(shards_[i], parameter, first_of[parameter]);
      shards_[i].slices_end = slices().size();
      shares.push_back(shards_[i].own_gradients);
    }
    if (shards_gradients_) share_sums_.reserve(shares);
  }

  /// What of a parameter that begins at `first` of its bucket lies in this rank's share.
  void add_own_part(const Shard& shard, std::size_t parameter, std::int64_t first) {
    const auto [begin, end] =
        own_part(first, site_.specs[parameter].elements(), shard.own_values.elements(), site_.rank);
    if (begin < end)
      add_slice(parameter, begin - first, end - begin, shard.gradients.part(begin, end - begin));
  }

  bool reduces_each_micro_batch() const noexcept override { return shards_gradients_; }
  void begin_reduction() override { order_.begin(); }
  void reduce_when_ready(std::size_t parameter) override {
    order_.on_ready(parameter, [this](std::size_t bucket) { launch(bucket); });
  }

  void launch(std::size_t bucket) {
    const Shard& shard = shards_[bucket];
    if (site_.world_size > 1) {
      const auto span = site_.probe.span(SpanKind::kBackward, average_name_, shard.gradients.bytes(),
                                         static_cast<std::uint16_t>(bucket));
      site_.device.scale(shard.gradients, 1.0F / static_cast<float>(site_.world_size));
    }
    if (site_.graphs.capturing()) {
      return site_.graphs.reduce_scatter(elements(shard.gradients), elements(shard.own_gradients),
                                         static_cast<std::uint16_t>(bucket));
    }
    submit([gradients = elements(shard.gradients), share = elements(shard.own_gradients),
            where = place(bucket)](RecordedCollectives& collectives) {
      collectives.reduce_scatter_sum(gradients, share, where);
    });
  }

  void finish_reduction() override {
    if (!shards_gradients_) return;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      if (is_last_micro_batch()) {
        share_sums_.finish(i, shards_[i].own_gradients);
      } else {
        share_sums_.add(i, micro_batch(), shards_[i].own_gradients);
      }
    }
  }

  const bool shards_gradients_;
  const std::uint32_t average_name_;
  const std::vector<Bucket> plan_;
  BucketOrder order_;
  GradientAccumulator share_sums_;
  device::Buffer value_memory_;
  device::Buffer gradient_memory_;
  std::vector<Shard> shards_;
};

template <bool kShardsGradients>
StrategyTraffic traffic(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  const double n = run_case.world_size();
  const double reductions = kShardsGradients ? run_case.accumulate : 1;
  const double bytes = static_cast<double>(padded_bytes(run_case, parameter_bytes));
  return all_ranks_alike(reductions > 1 ? "(1 + accumulate) (n-1)/n S" : "2 (n-1)/n S",
                         (1 + reductions) * (n - 1) / n * bytes);
}

template <bool kShardsGradients>
device::MemoryByUse memory(const RunCase& run_case, const ParameterSizes& parameters, int rank) {
  const std::int64_t bytes = padded_bytes(run_case, parameters.bytes);
  const std::int64_t summed = kShardsGradients ? bytes / run_case.world_size() : sum_of(parameters.bytes);
  device::MemoryByUse memory;
  memory[device::MemoryUse::kParameters] = bytes;
  memory[device::MemoryUse::kGradients] = bytes + accumulator_bytes(run_case, summed);
  memory[device::MemoryUse::kOptimizer] = state_bytes(run_case, owned_bytes(run_case, parameters.bytes, rank));
  return memory;
}

void check(const RunCase& run_case) {
  overlaps(run_case);
  is_offloaded(run_case);
  check_shards(run_case);
}

template <bool kShardsGradients>
StrategyInfo zero_strategy(std::string name, std::string description) {
  return {.name = std::move(name),
          .description = std::move(description),
          .options = {overlap_option(), offload_option()},
          .check = check,
          .make = [](const StrategySite& site) -> std::unique_ptr<Strategy> {
            return std::make_unique<Zero>(site, kShardsGradients);
          },
          .traffic = traffic<kShardsGradients>,
          .memory = memory<kShardsGradients>};
}

}  // namespace

StrategyInfo zero1_strategy() {
  return zero_strategy<false>("zero1", "DeepSpeed ZeRO stage 1: the optimizer's state is sharded over ranks");
}
StrategyInfo zero2_strategy() {
  return zero_strategy<true>(
      "zero2", "DeepSpeed ZeRO stage 2: the optimizer's state and averaged gradients are sharded over ranks");
}

}  // namespace ddbench::ddp
