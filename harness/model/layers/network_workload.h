#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/model/layers/network.h"
#include "harness/model/workload.h"

namespace ddbench::workload {

/// A workload whose model is a network.
struct NetworkDescription {
  std::function<void(Network& network)> describe;
  SampleShape sample;
  std::function<std::unique_ptr<Dataset>(const std::string& data, std::uint64_t seed)> make_dataset;
};

std::unique_ptr<Workload> make_network_workload(NetworkDescription description);

}  // namespace ddbench::workload
