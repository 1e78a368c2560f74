// PyTorch's DistributedDataParallel: gradients are views into buckets, whose all-reduce starts when their
// last gradient is ready; with the communication hooks fp16_compress_hook and bf16_compress_hook.
#include <fmt/format.h>

#include "core/error.h"
#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/bucket_order.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

using device::DataType;
using device::Tensor;

enum class Hook : std::uint8_t { kNone, kFloat16, kBfloat16 };

Hook hook_of(const RunCase& run_case) {
  const std::string hook = strategy_text(run_case, "hook", "none");
  if (hook == "none") return Hook::kNone;
  if (hook == "fp16") return Hook::kFloat16;
  if (hook == "bf16") return Hook::kBfloat16;
  throw Error(ErrorCode::kBadInput,
              fmt::format("strategy ddp: hook \"{}\" is not known; hooks: none, fp16, bf16", hook));
}

class Ddp final : public Strategy {
 public:
  explicit Ddp(const StrategySite& site)
      : Strategy(site),
        hook_(hook_of(site.run_case)),
        average_name_(site.probe.intern("average_gradients")),
        widen_name_(site.probe.intern("decompress")),
        plan_(plan_buckets(site.run_case, site.specs)),
        order_(plan_, site.specs.size(), overlaps(site.run_case)),
        values_(site.specs, site.device, device::MemoryUse::kParameters) {
    std::vector<Tensor> gradients(site.specs.size());
    for (const Bucket& bucket : plan_) add_bucket(bucket, gradients);
    set_parameters(values_.tensors(), gradients, values_.all());
    for (std::size_t i = 0; i < gradients.size(); ++i) add_slice(i);
  }

 private:
  struct BucketMemory {
    device::Buffer memory;
    Tensor gradients;
    device::Buffer compressed_memory;
    Tensor compressed;  // with a hook
  };

  void add_bucket(const Bucket& bucket, std::vector<Tensor>& gradients) {
    const std::int64_t count = elements_of(bucket, site_.specs);
    BucketMemory& added = buckets_.emplace_back();
    added.memory = site_.device.allocate(count * size_of(DataType::kFloat32), device::MemoryUse::kGradients);
    added.gradients = {added.memory.data(), 1, count};
    if (hook_ != Hook::kNone) {
      const DataType type = hook_ == Hook::kFloat16 ? DataType::kFloat16 : DataType::kBfloat16;
      added.compressed_memory = site_.device.allocate(count * size_of(type), device::MemoryUse::kBuckets);
      added.compressed = {added.compressed_memory.data(), 1, count, type};
    }
    std::int64_t first = 0;
    for (const std::size_t parameter : bucket) {
      const workload::ParameterSpec& spec = site_.specs[parameter];
      gradients[parameter] = added.gradients.part(first, spec.elements());
      gradients[parameter].rows = spec.rows;
      gradients[parameter].columns = spec.columns;
      first += spec.elements();
    }
  }

  void begin_reduction() override { order_.begin(); }
  void reduce_when_ready(std::size_t parameter) override {
    order_.on_ready(parameter, [this](std::size_t bucket) { launch(bucket); });
  }

  void launch(std::size_t bucket) {
    const collective::Elements data = averaged(bucket);
    if (site_.graphs.capturing()) return site_.graphs.all_reduce(data, static_cast<std::uint16_t>(bucket));
    submit([data, where = place(bucket)](RecordedCollectives& collectives) {
      collectives.all_reduce_sum(data, where);
    });
  }

  /// Divided by the number of ranks before the sum, as PyTorch does it; not at all with one rank. With a hook it is divided on
  /// the way to 16 bits, in one pass; PyTorch's hooks divide what has 16 bits already, and so round twice and overflow earlier.
  collective::Elements averaged(std::size_t bucket) {
    const BucketMemory& memory = buckets_[bucket];
    if (site_.world_size == 1 && hook_ == Hook::kNone) return elements(memory.gradients);
    const auto span = site_.probe.span(SpanKind::kBackward, average_name_, memory.gradients.bytes(),
                                       static_cast<std::uint16_t>(bucket));
    const float share = 1.0F / static_cast<float>(site_.world_size);
    if (hook_ == Hook::kNone) {
      site_.device.scale(memory.gradients, share);
      return elements(memory.gradients);
    }
    site_.device.narrow(memory.gradients, share, memory.compressed);
    return {memory.compressed.data, memory.compressed.elements(),
            hook_ == Hook::kFloat16 ? collective::ElementType::kFloat16 : collective::ElementType::kBfloat16};
  }

  void finish_reduction() override {
    if (hook_ == Hook::kNone) return;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      const auto span = site_.probe.span(SpanKind::kCopy, widen_name_, buckets_[i].gradients.bytes(),
                                         static_cast<std::uint16_t>(i));
      site_.device.widen(buckets_[i].compressed, buckets_[i].gradients);
    }
  }

  const Hook hook_;
  const std::uint32_t average_name_;
  const std::uint32_t widen_name_;
  const std::vector<Bucket> plan_;
  BucketOrder order_;
  ParameterMemory values_;
  std::vector<BucketMemory> buckets_;
};

StrategyTraffic traffic(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  const bool compressed = hook_of(run_case) != Hook::kNone;
  const double n = run_case.world_size();
  const double bytes = static_cast<double>(sum_of(parameter_bytes)) / (compressed ? 2 : 1);
  return all_ranks_alike(compressed ? "2 (n-1)/n S/2" : "2 (n-1)/n S", 2 * (n - 1) / n * bytes);
}

device::MemoryByUse memory(const RunCase& run_case, const ParameterSizes& parameters, int) {
  const std::int64_t bytes = sum_of(parameters.bytes);
  device::MemoryByUse memory;
  memory[device::MemoryUse::kParameters] = ParameterMemory::bytes_for(parameters.bytes);
  memory[device::MemoryUse::kGradients] = bytes + accumulator_bytes(run_case, bytes);
  memory[device::MemoryUse::kOptimizer] = state_bytes(run_case, bytes);
  memory[device::MemoryUse::kBuckets] = hook_of(run_case) == Hook::kNone ? 0 : bytes / 2;
  return memory;
}

}  // namespace

StrategyInfo ddp_strategy() {
  return {.name = "ddp",
          .description = "PyTorch DistributedDataParallel: buckets, all-reduce overlapped with backward",
          .options = {{"hook", "none", "compression of gradients on the wire: none, fp16 or bf16"}, overlap_option(), offload_option()},
          .check = [](const RunCase& run_case) {
            hook_of(run_case);
            overlaps(run_case);
            is_offloaded(run_case);
          },
          .make = [](const StrategySite& site) -> std::unique_ptr<Strategy> {
            return std::make_unique<Ddp>(site);
          },
          .traffic = traffic,
          .memory = memory};
}

}  // namespace ddbench::ddp
