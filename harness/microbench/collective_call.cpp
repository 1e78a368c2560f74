#include "harness/microbench/collective_call.h"

#include <limits>
#include <vector>

namespace ddbench::micro {
namespace {

using analyzer::MicroOperation;
using device::Tensor;

constexpr int kRoot = 0;
constexpr std::int64_t kPeriod = 251;  // prime: a chunk in the wrong place shows

double sent(std::int64_t rank, std::int64_t index) {
  return static_cast<double>(index % kPeriod + rank);
}

double sum_of_sent(std::int64_t ranks, std::int64_t index) {
  return static_cast<double>(ranks * (index % kPeriod) + ranks * (ranks - 1) / 2);
}

collective::Elements elements(const Tensor& tensor) {
  return {tensor.data, tensor.elements(), collective::ElementType::kFloat32};
}

}  // namespace

CollectiveCall::CollectiveCall(const Measurement& measurement, Tensor input, Tensor output,
                               collective::Communicator& communicator, device::Device& device)
    : measurement_(measurement),
      communicator_(communicator),
      device_(device),
      ranks_(communicator.world_size()),
      rank_(communicator.rank()) {
  const std::int64_t chunk = measurement.count;
  const std::int64_t all = chunk * ranks_;
  switch (measurement.operation) {
    case MicroOperation::kAllGather:
      output_ = output.part(0, all);
      input_ = measurement.in_place ? output_.part(rank_ * chunk, chunk) : input.part(0, chunk);
      break;
    case MicroOperation::kReduceScatter:
      input_ = input.part(0, all);
      output_ = measurement.in_place ? input_.part(rank_ * chunk, chunk) : output.part(0, chunk);
      break;
    case MicroOperation::kAllToAll:
      input_ = input.part(0, all);
      output_ = output.part(0, all);
      break;
    default: output_ = output.part(0, chunk); input_ = measurement.in_place ? output_ : input.part(0, chunk);
  }
}

void CollectiveCall::run() {
  switch (measurement_.operation) {
    case MicroOperation::kAllReduce:
      if (!measurement_.in_place) copy_input();
      return communicator_.all_reduce_sum(elements(output_));
    case MicroOperation::kBroadcast:
      if (!measurement_.in_place && rank_ == kRoot) copy_input();
      return communicator_.broadcast(elements(output_), kRoot);
    case MicroOperation::kAllGather: return communicator_.all_gather(elements(input_), elements(output_));
    case MicroOperation::kReduceScatter:
      return communicator_.reduce_scatter_sum(elements(input_), elements(output_));
    default: return communicator_.all_to_all(elements(input_), elements(output_));
  }
}

void CollectiveCall::copy_input() {
  device_.copy(input_, output_);
  device_.synchronize();  // collectives use the data as it is now
}

void CollectiveCall::fill_input() {
  std::vector<float> values(static_cast<std::size_t>(input_.elements()));
  std::int64_t index = 0;
  for (float& value : values) value = static_cast<float>(sent(rank_, index++));
  device_.upload(values.data(), input_);
}

void CollectiveCall::fill_with_zeros() {
  device_.fill(output_, 0);
  device_.fill(input_, 0);
  device_.synchronize();
}

double CollectiveCall::expected(std::int64_t index) const {
  const std::int64_t chunk = measurement_.count;
  switch (measurement_.operation) {
    case MicroOperation::kAllReduce: return sum_of_sent(ranks_, index);
    case MicroOperation::kBroadcast: return sent(kRoot, index);
    case MicroOperation::kAllGather: return sent(index / chunk, index % chunk);
    case MicroOperation::kReduceScatter: return sum_of_sent(ranks_, rank_ * chunk + index);
    default: return sent(index / chunk, rank_ * chunk + index % chunk);
  }
}

std::int64_t CollectiveCall::count_wrong() {
  device_.fill(output_, std::numeric_limits<float>::quiet_NaN());
  fill_input();
  device_.synchronize();
  run();
  std::vector<float> values(static_cast<std::size_t>(output_.elements()));
  device_.download(output_, values.data());
  std::int64_t wrong = 0;
  std::int64_t index = 0;
  for (const float value : values) wrong += static_cast<double>(value) != expected(index++);
  return wrong;
}

}  // namespace ddbench::micro
