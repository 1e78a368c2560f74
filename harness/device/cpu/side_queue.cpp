// On the host a second queue is the calling thread itself.
#include "harness/device/cpu/cpu_device.h"

namespace ddbench::device::cpu {
namespace {

class CallingThread final : public SideQueue {
 public:
  explicit CallingThread(CpuDevice& device) : device_(device) {}
  // These operators use nothing of the device but the memory that they are given, so that two threads may call them.
  void copy(const Tensor& source, const Tensor& destination) override { device_.copy(source, destination); }
  void add(const Tensor& source, const Tensor& destination) override { device_.add(source, destination); }
  void scale(const Tensor& values, float factor) override { device_.scale(values, factor); }
  void synchronize() override {}

 private:
  CpuDevice& device_;
};

}  // namespace

std::unique_ptr<SideQueue> CpuDevice::side_queue() {
  return std::make_unique<CallingThread>(*this);
}

}  // namespace ddbench::device::cpu
