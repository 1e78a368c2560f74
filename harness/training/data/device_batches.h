#pragma once

#include <cstdint>
#include <optional>

#include "harness/device/device.h"
#include "harness/model/model.h"

namespace ddbench::ddp {

/// Batches, numbered in their order, in the memory of a device whose memory is not the host's. The one that
/// is trained on lies in the same place always; the one after it can be sent ahead, to a place of its own,
/// while the device computes. Batches come from memory of allocate_host().
class DeviceBatches {
 public:
  /// For batches like `batch`; `sends_ahead`: there will be calls of send_ahead(), and room is made for it.
  DeviceBatches(device::Device& device, const workload::Batch& batch, bool sends_ahead,
                workload::Probe& probe);

  /// Batch `number`, from `host` unless it was sent ahead; valid until the next call.
  const workload::Batch& take(std::int64_t number, const workload::Batch& host, workload::Probe& probe);
  /// Begins to copy the batch that take() is asked for next. `host` keeps it until the device has computed
  /// with it.
  void send_ahead(std::int64_t number, const workload::Batch& host, workload::Probe& probe);

 private:
  struct Place {
    Place(device::Device& device, const workload::Batch& like);

    device::Buffer inputs;
    device::Buffer labels;
    workload::Batch batch;
  };

  device::Device& device_;
  const std::uint32_t upload_name_;
  const std::uint32_t take_name_;
  Place trained_on_;
  std::optional<Place> ahead_;
  std::int64_t number_ahead_ = -1;  // the last one that was sent
};

}  // namespace ddbench::ddp
