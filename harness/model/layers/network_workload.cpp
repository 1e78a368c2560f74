#include "harness/model/layers/network_workload.h"

#include <utility>

#include "harness/model/layers/network_memory.h"
#include "harness/model/layers/network_schedule.h"

namespace ddbench::workload {
namespace {

class NetworkWorkload final : public Workload {
 public:
  explicit NetworkWorkload(NetworkDescription description) : description_(std::move(description)) {}

  std::vector<ParameterSpec> parameters() const override { return network().parameters(); }
  std::vector<LayerFlops> layer_flops() const override { return network().flops(); }
  std::int64_t activation_bytes(std::int64_t batch, device::DataType precision) const override {
    return memory_bytes(network(precision), batch);
  }
  std::int64_t weight_copy_bytes(device::DataType precision) const override {
    return copied_weight_bytes(network(precision));
  }
  std::int64_t weight_scratch_bytes(device::DataType precision) const override {
    return workload::weight_scratch_bytes(network(precision));
  }
  ParameterUses parameter_uses() const override { return uses_of(network()); }
  SampleShape sample() const override { return description_.sample; }

  std::unique_ptr<Dataset> make_dataset(const std::string& data, std::uint64_t seed) const override {
    return description_.make_dataset(data, seed);
  }
  std::unique_ptr<Model> make_model(device::Device& device, std::vector<Parameter> parameters,
                                    std::int64_t batch, Probe& probe, device::DataType precision,
                                    ParameterSource* source) const override {
    return make_network_model(network(precision), device, std::move(parameters), batch, probe, source);
  }

 private:
  Network network(device::DataType precision = device::DataType::kFloat32) const {
    Network network(precision);
    description_.describe(network);
    return network;
  }

  NetworkDescription description_;
};

}  // namespace

std::unique_ptr<Workload> make_network_workload(NetworkDescription description) {
  return std::make_unique<NetworkWorkload>(std::move(description));
}

}  // namespace ddbench::workload
