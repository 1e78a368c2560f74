#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device/network_operators.h"
#include "harness/device/side_queue.h"
#include "harness/device/tensor.h"

namespace ddbench::device {

class GraphCapture;

struct SgdSettings {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  float trust_ratio = 1;  ///< of LARS
};

struct AdamSettings {
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0;
  float correction1 = 1;  ///< 1 - beta1^t in step t, counted from 1
  float correction2 = 1;  ///< 1 - beta2^t
};

struct DeviceOptions {
  int rank = 0;       ///< its GPU is the one with this number, modulo the GPUs there are
  bool tf32 = false;  ///< GPUs multiply float32 as TF32 (10 bits of mantissa), and add up in float32
};

/// Where a rank computes: memory, the operators of the reference workloads (NetworkOperators) and those of
/// optimizers and gradient reduction, which take float32 except where they say otherwise. Every tensor is in
/// this device's memory. One thread at a time, except for wait_for().
///
/// A device whose is_host() is true has completed an operator when it returns, in host memory. Any other
/// device queues operators, in the order of the calls; work that only a host can do (collectives, files,
/// random numbers) uses the functions marked "Queue" below.
class Device : public NetworkOperators {
 public:
  /// For people and the stored run: "cpu, oneDNN 2.6.3, AVX512".
  virtual std::string description() const = 0;
  virtual bool is_host() const noexcept = 0;

  /// Zeroed memory aligned to 64 bytes or better. Throws Error{kEnvironment} when there is not enough.
  Buffer allocate(std::int64_t bytes, MemoryUse use = MemoryUse::kOther) {
    Buffer buffer = allocate_memory(bytes);
    buffer.count_in(ledger_, use);
    return buffer;
  }
  /// The same of the host's memory, from and to which upload() and download() are fastest. It counts where is_host().
  Buffer allocate_host(std::int64_t bytes, MemoryUse use = MemoryUse::kOther) {
    return is_host() ? allocate(bytes, use) : allocate_pinned(bytes);
  }
  /// What allocate() and the operators have taken of this device's memory.
  const MemoryLedger& memory() const noexcept { return *ledger_; }
  void forget_memory_peak() noexcept { ledger_->forget_peak(); }
  /// The most that the driver kept for this process's allocator; 0 where there is none below allocate().
  virtual std::int64_t reserved_peak_bytes() const noexcept { return 0; }

  /// Queue: copies from host memory, as many bytes as `destination` has. Memory of allocate_host() must keep
  /// its content until the next synchronize(); other memory may be reused at once.
  virtual void upload(const void* source, const Tensor& destination) = 0;
  /// Queue: the same from memory of allocate_host(), concurrently with the queue: after everything queued so
  /// far, in parallel with what is queued from now on. await_uploads() must be called before queued work uses
  /// `destination`, and synchronize() after that before the source changes.
  virtual void upload_ahead(const void* source, const Tensor& destination) = 0;
  /// Queue: work queued from now on runs after all uploads begun by upload_ahead().
  virtual void await_uploads() = 0;
  /// Queue: to the host's memory, where it is when this returns; so is all that was queued before.
  virtual void download(const Tensor& source, void* destination) = 0;

  /// Queue: blocks until all queued work is done. Throws Error{kRunFailed} when some of it failed.
  virtual void synchronize() = 0;
  /// Queue: names the point that it has come to now.
  virtual std::uint64_t mark() = 0;
  /// Queue: blocks until it has passed mark(). From any thread.
  virtual void wait_for(std::uint64_t mark) = 0;
  /// The point as an event that other queues can wait for, a cudaEvent_t; nullptr where there is none. From any
  /// thread.
  virtual void* event_of(std::uint64_t /*mark*/) noexcept { return nullptr; }
  /// Queue: notes the time at which it will pass this point; returns how many are noted before.
  virtual std::size_t stamp() noexcept = 0;
  /// Queue: the same of the time at which uploads ahead will pass this point of theirs.
  virtual std::size_t stamp_uploads() noexcept = 0;
  /// Synchronizes, including uploads ahead; returns the recorded times, on now_ns()'s clock, and clears them.
  /// They may be up to some 10 microseconds late, all times of one call by the same amount.
  virtual void read_stamps(std::vector<std::int64_t>& times_ns) = 0;
  /// Queue: what captures it as a graph (graph.h), this device's own; nullptr where nothing can.
  virtual GraphCapture* graph_capture() noexcept { return nullptr; }
  /// A second queue, for one other thread.
  virtual std::unique_ptr<SideQueue> side_queue() = 0;

  virtual void fill(const Tensor& destination, float value) = 0;
  virtual void copy(const Tensor& source, const Tensor& destination) = 0;  ///< equal shapes and types
  virtual void scale(const Tensor& values, float factor) = 0;              ///< in place; averaging

  // What optimizers and gradient reduction are made of: vectors of any shape, equal numbers of elements.

  /// One step as torch.optim.SGD takes it, in place: with d = trust_ratio * (gradient + weight_decay *
  /// parameter), velocity = momentum * velocity + d and parameter -= lr * velocity.
  virtual void sgd(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                   const SgdSettings& settings) = 0;
  /// One step as torch.optim.AdamW takes it (Loshchilov, Hutter 2019), in place: parameter *= 1 - lr *
  /// weight_decay; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
  /// parameter -= lr / correction1 * m / (sqrt(v) / sqrt(correction2) + epsilon).
  virtual void adamw(const Tensor& parameter, const Tensor& gradient, const Tensor& m, const Tensor& v,
                     const AdamSettings& settings, float lr) = 0;
  /// adamw() of each, which do not overlap: with a queue, in as few pieces of work as it can.
  struct AdamTensors {
    Tensor parameter, gradient, m, v;
  };
  virtual void adamw_each(std::span<const AdamTensors> tensors, const AdamSettings& settings, float lr) {
    for (const AdamTensors& each : tensors) adamw(each.parameter, each.gradient, each.m, each.v, settings, lr);
  }
  /// adamw_each() in a graph (graph.h) takes the settings and learning rate of the last call of this before the graph's launch,
  /// and none of its own. Queue: in its order.
  virtual void set_adamw(const AdamSettings& /*settings*/, float /*lr*/) {}
  /// The direction of a LAMB step (You et al. 2020), m and v as in adamw; `gradient` becomes
  /// (m / correction1) / (sqrt(v / correction2) + epsilon) + weight_decay * parameter.
  virtual void lamb_direction(const Tensor& parameter, const Tensor& gradient, const Tensor& m,
                              const Tensor& v, const AdamSettings& settings) = 0;
  /// destination += factor * source
  virtual void add_scaled(const Tensor& source, float factor, const Tensor& destination) = 0;
  /// Adds the sum of squares, accumulated in double, to the next result of take_squared_norm().
  virtual void add_squared_norm(const Tensor& values) = 0;
  /// Sums of squares since the last call.
  virtual double take_squared_norm() = 0;
  double squared_norm(const Tensor& values) {
    add_squared_norm(values);
    return take_squared_norm();
  }
  /// destination = factor * source, rounded to nearest even; source float32, destination of a 16-bit type.
  virtual void narrow(const Tensor& source, float factor, const Tensor& destination) = 0;
  /// destination = source, exactly; source of a 16-bit type, destination float32.
  virtual void widen(const Tensor& source, const Tensor& destination) = 0;

 protected:
  virtual Buffer allocate_memory(std::int64_t bytes) = 0;
  virtual Buffer allocate_pinned(std::int64_t bytes) = 0;
  MemoryLedger& ledger() noexcept { return *ledger_; }

 private:
  const std::shared_ptr<MemoryLedger> ledger_ = std::make_shared<MemoryLedger>();
};

/// Opens the module of the device `name` ("cpu", "cuda"). The calling thread becomes a one-thread rank: the
/// device computes on it and starts no threads. Throws Error{kBadInput} for an unknown name,
/// Error{kEnvironment} when this build or machine lacks it (the message states what provides it).
std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options = {});

/// Throws what make_device() would throw for want of the device, and takes none of its memory.
void check_device(std::string_view name);

/// "cuda" where this machine has a GPU that this build can use, or "cpu".
std::string best_device();

/// What the modules of devices export (ddbench/module/module.h).
inline constexpr const char* kDeviceInterface = "device/9";
struct DeviceModule {
  std::unique_ptr<Device> (*make)(const DeviceOptions& options);
  void (*check)();
};

}  // namespace ddbench::device
