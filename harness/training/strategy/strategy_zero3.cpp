// DeepSpeed's ZeRO stage 3, and PyTorch's FSDP: each rank keeps a share of every bucket of parameters, of their averaged
// gradients and of the optimizer's state. A bucket's values are gathered before the layers that read them forward, and again
// before those backward; its gradients are reduce-scattered when the last one is ready. In between, the memory of both serves
// other buckets. Nothing is gathered after the update.
#include <algorithm>

#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/bucket_order.h"
#include "harness/training/strategy/parameter_schedule.h"
#include "harness/training/strategy/shards.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

using device::MemoryUse;
using device::Tensor;

/// Sizes of a case's buckets, padded, and what is where when.
struct Layout {
  Layout(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes, const workload::ParameterUses& uses)
      : plan(plan_buckets(parameter_bytes, run_case.first_bucket_bytes, run_case.bucket_bytes)) {
    for (const Bucket& bucket : plan) {
      std::int64_t own = 0;
      for (const std::size_t parameter : bucket) own += parameter_bytes[parameter] / std::int64_t{sizeof(float)};
      elements.push_back(padded(own, run_case.world_size()));
      bytes.push_back(elements.back() * std::int64_t{sizeof(float)});
    }
    schedule = schedule_parameters(uses, plan, bytes, overlaps(run_case));
  }

  std::vector<Bucket> plan;
  std::vector<std::int64_t> elements;  // by bucket
  std::vector<std::int64_t> bytes;
  ParameterSchedule schedule;
};

class Zero3 final : public Strategy, private workload::ParameterSource {
 public:
  explicit Zero3(const StrategySite& site)
      : Strategy(site),
        overlap_(overlaps(site.run_case)),
        average_name_(site.probe.intern("average_gradients")),
        layout_(site.run_case, bytes_of(site.specs), site.uses),
        order_(layout_.plan, site.specs.size()),
        share_sums_(site.run_case.accumulate, site.device, site.probe),
        spots_(site.specs.size()),
        handed_in_(layout_.schedule.gathers.size()) {
    const std::int64_t total = sum_of(layout_.bytes);
    own_value_memory_ = site.device.allocate(total / site.world_size, MemoryUse::kParameters);
    own_gradient_memory_ = site.device.allocate(total / site.world_size, MemoryUse::kGradients);
    value_memory_ = site.device.allocate(layout_.schedule.value_bytes, MemoryUse::kParameters);
    gradient_memory_ = site.device.allocate(layout_.schedule.gradient_bytes, MemoryUse::kGradients);
    lay_out();
  }

  bool updates_everything() const noexcept override { return false; }
  workload::ParameterSource* source() noexcept override { return this; }

  void set_values(std::size_t parameter, const float* values) override {
    const Spot& spot = spots_[parameter];
    const Shard& shard = shards_[spot.bucket];
    const OwnPart own = part_of(parameter);
    if (own.begin >= own.end) return;
    site_.device.upload(values + (own.begin - spot.first),
                        shard.own_values.part(own.begin - first_of(shard), own.end - own.begin));
  }

  /// They drew those of rank 0.
  void share_parameters() override {
    submit([](RecordedCollectives& collectives) { collectives.barrier(); });
    site_.communication.wait();
  }

  void read_values(const std::function<void(std::size_t, const float*)>& take) override {
    std::vector<float> values;
    for (std::size_t bucket = shards_.size(); bucket-- > 0;) {  // the last one has the first parameters
      Shard& shard = shards_[bucket];
      shard.values = {value_memory_.data(), 1, layout_.elements[bucket]};
      submit([all = elements(shard.values), share = elements(shard.own_values)](RecordedCollectives& collectives) {
        collectives.all_gather(share, all, {});
      });
      site_.communication.wait();
      const Bucket& parameters = layout_.plan[bucket];
      for (std::size_t i = parameters.size(); i-- > 0;) {
        values.resize(static_cast<std::size_t>(site_.specs[parameters[i]].elements()));
        site_.device.download(value(parameters[i]), values.data());
        take(parameters[i], values.data());
      }
    }
  }

 private:
  struct Shard {            // a bucket, and this rank's part of it
    Tensor values;          // where they were gathered last
    Tensor gradients;       // from the first that is written until they are reduced
    Tensor own_values;      // these stay
    Tensor own_gradients;
    std::uint64_t reduction = 0;  // its number as a job, in this micro-batch
  };
  struct Spot {
    std::size_t bucket = 0;
    std::int64_t first = 0;  // in its bucket
  };

  void lay_out() {
    const Tensor own_values{own_value_memory_.data(), 1, own_value_memory_.bytes() / std::int64_t{sizeof(float)}};
    const Tensor own_gradients{own_gradient_memory_.data(), 1, own_values.columns};
    std::vector<Tensor> values(site_.specs.size());
    std::vector<Tensor> gradients(site_.specs.size());
    std::vector<Tensor> shares;
    std::int64_t at = 0;
    for (std::size_t bucket = 0; bucket < layout_.plan.size(); ++bucket) {
      const std::int64_t share = layout_.elements[bucket] / site_.world_size;
      Shard& shard = shards_.emplace_back();
      shard.own_values = own_values.part(at, share);
      shard.own_gradients = own_gradients.part(at, share);
      shard.gradients = {at_offset(gradient_memory_, layout_.schedule.gradients[bucket].offset), 1,
                         layout_.elements[bucket]};
      shares.push_back(shard.own_gradients);
      at += share;
      std::int64_t first = 0;
      for (const std::size_t parameter : layout_.plan[bucket]) {
        const workload::ParameterSpec& spec = site_.specs[parameter];
        spots_[parameter] = {bucket, first};
        values[parameter] = {nullptr, spec.rows, spec.columns};
        gradients[parameter] = shaped(shard.gradients, parameter);
        first += spec.elements();
      }
    }
    set_parameters(values, gradients, {});
    for (const Bucket& bucket : layout_.plan) {
      for (const std::size_t parameter : bucket) add_own_part(parameter);
    }
    share_sums_.reserve(shares);
  }

  static void* at_offset(const device::Buffer& memory, std::int64_t offset) {
    return static_cast<std::byte*>(memory.data()) + offset;
  }
  Tensor shaped(const Tensor& bucket, std::size_t parameter) const {
    const workload::ParameterSpec& spec = site_.specs[parameter];
    return {bucket.part(spots_[parameter].first, spec.elements()).data, spec.rows, spec.columns};
  }
  /// Of the bucket's numbers, the first in this rank's share.
  std::int64_t first_of(const Shard& shard) const { return site_.rank * shard.own_values.elements(); }
  OwnPart part_of(std::size_t parameter) const {
    const Spot& spot = spots_[parameter];
    return own_part(spot.first, site_.specs[parameter].elements(), shards_[spot.bucket].own_values.elements(),
                    site_.rank);
  }

  void add_own_part(std::size_t parameter) {
    const Spot& spot = spots_[parameter];
    const Shard& shard = shards_[spot.bucket];
    const OwnPart own = part_of(parameter);
    if (own.begin >= own.end) return;
    const std::int64_t first = own.begin - first_of(shard);
    const std::int64_t count = own.end - own.begin;
    add_slice(parameter, own.begin - spot.first, shard.own_values.part(first, count),
              shard.own_gradients.part(first, count));
  }

  void begin(std::size_t moment) override {
    const std::vector<ParameterSchedule::Gather>& gathers = layout_.schedule.gathers;
    if (moment == 0) next_ = 0;
    await_gradient_memory(moment);
    for (; next_ < gathers.size() && gathers[next_].begins <= moment; ++next_) gather(next_);
    for (std::size_t i = 0; i < next_; ++i) {
      if (gathers[i].first != moment) continue;
      wait(handed_in_[i]);
      shards_[gathers[i].bucket].values = gathered_at(i);
    }
  }
  Tensor value(std::size_t parameter) const override {
    return shaped(shards_[spots_[parameter].bucket].values, parameter);
  }

  Tensor gathered_at(std::size_t gather) const {
    const ParameterSchedule::Gather& what = layout_.schedule.gathers[gather];
    return {at_offset(value_memory_, what.offset), 1, layout_.elements[what.bucket]};
  }
  void gather(std::size_t number) {
    const std::size_t bucket = layout_.schedule.gathers[number].bucket;
    handed_in_[number] = submit([values = elements(gathered_at(number)), share = elements(shards_[bucket].own_values),
                                 where = place(bucket)](RecordedCollectives& collectives) {
      collectives.all_gather(share, values, where);
    });
  }

  /// Gradients of a bucket that begins now may lie where those of others were.
  void await_gradient_memory(std::size_t moment) {
    const std::vector<ParameterSchedule::Gradient>& gradients = layout_.schedule.gradients;
    const auto begins = [&](const auto& gradient) { return gradient.first == moment; };
    if (std::none_of(gradients.begin(), gradients.end(), begins)) return;
    std::uint64_t last = 0;
    for (std::size_t bucket = 0; bucket < shards_.size(); ++bucket) {
      if (gradients[bucket].last < moment) last = std::max(last, shards_[bucket].reduction);
    }
    if (last > 0) wait(last);
  }

  bool reduces_each_micro_batch() const noexcept override { return true; }
  void begin_reduction() override { order_.begin(); }
  void reduce_when_ready(std::size_t parameter) override {
    order_.on_ready(parameter, [this](std::size_t bucket) { launch(bucket); });
  }

  void launch(std::size_t bucket) {
    Shard& shard = shards_[bucket];
    if (site_.world_size > 1) {
      const auto span = site_.probe.span(SpanKind::kBackward, average_name_, shard.gradients.bytes(),
                                         static_cast<std::uint16_t>(bucket));
      site_.device.scale(shard.gradients, 1.0F / static_cast<float>(site_.world_size));
    }
    shard.reduction = submit([gradients = elements(shard.gradients), share = elements(shard.own_gradients),
                              where = place(bucket)](RecordedCollectives& collectives) {
      collectives.reduce_scatter_sum(gradients, share, where);
    });
    if (!overlap_) wait(shard.reduction);
  }

  void finish_reduction() override {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      if (is_last_micro_batch()) {
        share_sums_.finish(i, shards_[i].own_gradients);
      } else {
        share_sums_.add(i, micro_batch(), shards_[i].own_gradients);
      }
    }
  }

  const bool overlap_;
  const std::uint32_t average_name_;
  const Layout layout_;
  BucketOrder order_;
  GradientAccumulator share_sums_;
  std::vector<Spot> spots_;                // by parameter
  std::vector<std::uint64_t> handed_in_;   // by gather: its number as a job
  device::Buffer own_value_memory_;
  device::Buffer own_gradient_memory_;
  device::Buffer value_memory_;
  device::Buffer gradient_memory_;
  std::vector<Shard> shards_;
  std::size_t next_ = 0;  // gather
};

StrategyTraffic traffic(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  const double n = run_case.world_size();
  const double bytes = static_cast<double>(padded_bytes(run_case, parameter_bytes));
  return all_ranks_alike(run_case.accumulate > 1 ? "3 accumulate (n-1)/n S" : "3 (n-1)/n S",
                         3 * run_case.accumulate * (n - 1) / n * bytes);
}

device::MemoryByUse memory(const RunCase& run_case, const ParameterSizes& parameters, int rank) {
  const Layout layout(run_case, parameters.bytes, parameters.uses);
  const std::int64_t share = sum_of(layout.bytes) / run_case.world_size();
  device::MemoryByUse memory;
  memory[MemoryUse::kParameters] = share + layout.schedule.value_bytes;
  memory[MemoryUse::kGradients] = share + layout.schedule.gradient_bytes + accumulator_bytes(run_case, share);
  memory[MemoryUse::kOptimizer] = state_bytes(run_case, owned_bytes(run_case, parameters.bytes, rank));
  return memory;
}

}  // namespace

StrategyInfo zero3_strategy() {
  return {.name = "zero3",
          .description = "DeepSpeed ZeRO stage 3, PyTorch FSDP: parameters are sharded too, and gathered for each use",
          .options = {{"overlap", "on",
                       "on: the next bucket is gathered, and gradients are reduced, beside compute; off: a rank waits for each"},
                      offload_option()},
          .check = [](const RunCase& run_case) {
            overlaps(run_case);
            is_offloaded(run_case);
            check_shards(run_case);
          },
          .make = [](const StrategySite& site) -> std::unique_ptr<Strategy> { return std::make_unique<Zero3>(site); },
          .traffic = traffic,
          .memory = memory,
          .shards_parameters = true};
}

}  // namespace ddbench::ddp
