#pragma once

#include <cstdint>
#include <vector>

#include "harness/device/device.h"
#include "harness/training/optimizer/optimizer.h"

namespace ddbench::ddp {

/// Tensors of a device as files take them: the tensors themselves where their memory is the host's, or else
/// memory beside them, between which and the device download() and upload() copy all of them.
class HostCopies {
 public:
  HostCopies(std::vector<NamedTensor> tensors, device::Device& device)
      : device_(device), originals_(std::move(tensors)), copies_(originals_) {
    if (device.is_host()) return;
    for (NamedTensor& copy : copies_) {
      memory_.emplace_back(static_cast<std::size_t>(copy.tensor.bytes()));
      copy.tensor.data = memory_.back().data();
    }
  }

  const std::vector<NamedTensor>& tensors() const noexcept { return copies_; }

  const std::vector<NamedTensor>& download() {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      device_.download(originals_[i].tensor, memory_[i].data());
    }
    return copies_;
  }
  void upload() {
    for (std::size_t i = 0; i < memory_.size(); ++i) device_.upload(memory_[i].data(), originals_[i].tensor);
  }

 private:
  device::Device& device_;
  const std::vector<NamedTensor> originals_;
  std::vector<NamedTensor> copies_;
  std::vector<std::vector<std::byte>> memory_;  // where the device's is not the host's
};

}  // namespace ddbench::ddp
