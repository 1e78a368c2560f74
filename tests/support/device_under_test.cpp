#include "device_under_test.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace ddbench::test {
namespace {

using namespace device;

std::string name_under_test() {
  const char* const name = std::getenv("DDBENCH_TEST_DEVICE");
  return name == nullptr ? "cpu" : name;
}

/// Before any test.
const bool is_there = [] {
  if (name_under_test() == "cpu") return true;
  try {
    check_device(name_under_test());
  } catch (const Error& error) {
    std::printf("skipped: no GPU (%s)\n", error.message().c_str());
    std::fflush(stdout);
    std::_Exit(77);
  }
  return true;
}();

/// Copies of tensors on a device, by the memory that they are copies of; they go back at the end.
class Copies {
 public:
  explicit Copies(Device& device) : device_(device) {}

  Tensor operator()(const Tensor& tensor) {
    if (tensor.data == nullptr || tensor.elements() <= 0) return tensor;
    auto [place, is_new] = copies_.try_emplace(tensor.data);
    if (is_new) {
      place->second = {device_.allocate(tensor.bytes() + kAlignment), tensor};
      device_.upload(tensor.data, on_device(place->second));
      device_.synchronize();  // for a second queue
    }
    Tensor copy = tensor;
    copy.data = data_of(place->second);
    return copy;
  }
  void bring_back() {
    for (auto& [data, copy] : copies_) device_.download(on_device(copy), data);
  }

 private:
  static constexpr std::int64_t kAlignment = 64;
  struct Copy {
    Buffer memory;
    Tensor original;
  };
  /// As aligned as the original: what is not takes other paths.
  static void* data_of(const Copy& copy) {
    return static_cast<std::byte*>(copy.memory.data()) + reinterpret_cast<std::uintptr_t>(copy.original.data) % kAlignment;
  }
  /// With the padding of its rows.
  static Tensor on_device(const Copy& copy) {
    return {data_of(copy), copy.original.rows, copy.original.leading(), copy.original.type};
  }

  Device& device_;
  std::map<void*, Copy> copies_;
};

/// Host memory in front of a device's second queue.
class MirroredQueue final : public SideQueue {
 public:
  explicit MirroredQueue(Device& real) : real_(real), queue_(real.side_queue()) {}

  void copy(const Tensor& from, const Tensor& to) override {
    run([&](auto& on) { queue_->copy(on(from), on(to)); });
  }
  void add(const Tensor& from, const Tensor& to) override {
    run([&](auto& on) { queue_->add(on(from), on(to)); });
  }
  void scale(const Tensor& values, float factor) override {
    run([&](auto& on) { queue_->scale(on(values), factor); });
  }
  void synchronize() override { queue_->synchronize(); }

 private:
  template <typename Operation>
  void run(const Operation& operation) {
    Copies copies(real_);
    operation(copies);
    queue_->synchronize();
    copies.bring_back();
  }

  Device& real_;
  const std::unique_ptr<SideQueue> queue_;
};

/// Host memory in front of a device with memory of its own.
class Mirrored final : public Device {
 public:
  explicit Mirrored(std::unique_ptr<Device> real) : real_(std::move(real)) {}

  std::string description() const override { return real_->description(); }
  bool is_host() const noexcept override { return true; }
  Buffer allocate_memory(std::int64_t bytes) override { return real_->allocate_host(bytes); }
  Buffer allocate_pinned(std::int64_t bytes) override { return real_->allocate_host(bytes); }
  void upload(const void* source, const Tensor& to) override {
    std::copy_n(bytes(source), to.bytes(), bytes(to.data));
  }
  void upload_ahead(const void* source, const Tensor& to) override { upload(source, to); }
  void await_uploads() override {}
  void download(const Tensor& from, void* to) override {
    std::copy_n(bytes(from.data), from.bytes(), bytes(to));
  }
  void synchronize() override { real_->synchronize(); }
  std::uint64_t mark() override { return real_->mark(); }
  void wait_for(std::uint64_t mark) override { real_->wait_for(mark); }
  std::unique_ptr<SideQueue> side_queue() override { return std::make_unique<MirroredQueue>(*real_); }
  std::size_t stamp() noexcept override { return real_->stamp(); }
  std::size_t stamp_uploads() noexcept override { return real_->stamp_uploads(); }
  void read_stamps(std::vector<std::int64_t>& times_ns) override { real_->read_stamps(times_ns); }

  void fill(const Tensor& to, float value) override {
    run([&](auto& on) { real_->fill(on(to), value); });
  }
  void copy(const Tensor& from, const Tensor& to) override {
    run([&](auto& on) { real_->copy(on(from), on(to)); });
  }
  void scale(const Tensor& values, float factor) override {
    run([&](auto& on) { real_->scale(on(values), factor); });
  }
  void sgd(const Tensor& w, const Tensor& g, const Tensor& u, const SgdSettings& settings) override {
    run([&](auto& on) { real_->sgd(on(w), on(g), on(u), settings); });
  }
  void adamw(const Tensor& w, const Tensor& g, const Tensor& m, const Tensor& v, const AdamSettings& settings,
             float lr) override {
    run([&](auto& on) { real_->adamw(on(w), on(g), on(m), on(v), settings, lr); });
  }
  void adamw_each(std::span<const AdamTensors> tensors, const AdamSettings& settings, float lr) override {
    run([&](auto& on) {
      std::vector<AdamTensors> copies;
      for (const AdamTensors& of : tensors) copies.push_back({on(of.parameter), on(of.gradient), on(of.m), on(of.v)});
      real_->adamw_each(copies, settings, lr);
    });
  }
  void lamb_direction(const Tensor& w, const Tensor& g, const Tensor& m, const Tensor& v,
                      const AdamSettings& settings) override {
    run([&](auto& on) { real_->lamb_direction(on(w), on(g), on(m), on(v), settings); });
  }
  void add_scaled(const Tensor& from, float factor, const Tensor& to) override {
    run([&](auto& on) { real_->add_scaled(on(from), factor, on(to)); });
  }
  void add_squared_norm(const Tensor& values) override {
    run([&](auto& on) { real_->add_squared_norm(on(values)); });
  }
  double take_squared_norm() override { return real_->take_squared_norm(); }
  void narrow(const Tensor& from, float factor, const Tensor& to) override {
    run([&](auto& on) { real_->narrow(on(from), factor, on(to)); });
  }
  void widen(const Tensor& from, const Tensor& to) override {
    run([&](auto& on) { real_->widen(on(from), on(to)); });
  }

  void linear_forward(const Tensor& x, const Tensor& w, const Tensor& b, Activation a,
                      const Tensor& y) override {
    run([&](auto& on) { real_->linear_forward(on(x), on(w), on(b), a, on(y)); });
  }
  void linear_backward_input(const Tensor& dy, const Tensor& w, GradientWrite write,
                             const Tensor& dx) override {
    run([&](auto& on) { real_->linear_backward_input(on(dy), on(w), write, on(dx)); });
  }
  void linear_backward_weight(const Tensor& x, const Tensor& dy, GradientWrite write, const Tensor& dw,
                              const Tensor& db) override {
    run([&](auto& on) { real_->linear_backward_weight(on(x), on(dy), write, on(dw), on(db)); });
  }
  bool fuses_gelu(Gelu form) const noexcept override { return real_->fuses_gelu(form); }
  void linear_gelu_forward(const Tensor& x, const Tensor& w, const Tensor& b, Gelu form, const Tensor& before,
                           const Tensor& y) override {
    run([&](auto& on) { real_->linear_gelu_forward(on(x), on(w), on(b), form, on(before), on(y)); });
  }
  void linear_gelu_backward_input(const Tensor& dy, const Tensor& w, Gelu form, const Tensor& before,
                                  const Tensor& dbefore) override {
    run([&](auto& on) { real_->linear_gelu_backward_input(on(dy), on(w), form, on(before), on(dbefore)); });
  }
  void conv2d_forward(const Window& window, const Tensor& x, const Tensor& w, const Tensor& y) override {
    run([&](auto& on) { real_->conv2d_forward(window, on(x), on(w), on(y)); });
  }
  void conv2d_backward_input(const Window& window, const Tensor& dy, const Tensor& w,
                             const Tensor& dx) override {
    run([&](auto& on) { real_->conv2d_backward_input(window, on(dy), on(w), on(dx)); });
  }
  void conv2d_backward_weight(const Window& window, const Tensor& x, const Tensor& dy, GradientWrite write,
                              const Tensor& dw) override {
    run([&](auto& on) { real_->conv2d_backward_weight(window, on(x), on(dy), write, on(dw)); });
  }
  void batch_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& residual,
                          Activation a, float epsilon, const BatchStatistics& s, const Tensor& y) override {
    run([&](auto& on) {
      real_->batch_norm_forward(on(x), on(scale), on(shift), on(residual), a, epsilon,
                                {on(s.mean), on(s.inverse_deviation)}, on(y));
    });
  }
  void batch_norm_backward(const Tensor& x, const Tensor& y, const Tensor& scale, Activation a,
                           const BatchStatistics& s, const Tensor& dy, GradientWrite write,
                           const Tensor& dscale, const Tensor& dshift, const Tensor& dx) override {
    run([&](auto& on) {
      real_->batch_norm_backward(on(x), on(y), on(scale), a, {on(s.mean), on(s.inverse_deviation)}, on(dy),
                                 write, on(dscale), on(dshift), on(dx));
    });
  }
  void layer_norm_forward(const Tensor& x, const Tensor& scale, const Tensor& shift, float epsilon,
                          const Tensor& statistics, const Tensor& y) override {
    run([&](auto& on) {
      real_->layer_norm_forward(on(x), on(scale), on(shift), epsilon, on(statistics), on(y));
    });
  }
  bool fuses_residual() const noexcept override { return real_->fuses_residual(); }
  void add_layer_norm_forward(const Tensor& x, const Tensor& sum, const Tensor& scale, const Tensor& shift,
                              float epsilon, const Tensor& statistics, const Tensor& y) override {
    run([&](auto& on) {
      real_->add_layer_norm_forward(on(x), on(sum), on(scale), on(shift), epsilon, on(statistics), on(y));
    });
  }
  void layer_norm_backward(const Tensor& x, const Tensor& scale, const Tensor& statistics, const Tensor& dy,
                           GradientWrite write, const Tensor& dscale, const Tensor& dshift,
                           GradientWrite dx_write, const Tensor& dx) override {
    run([&](auto& on) {
      real_->layer_norm_backward(on(x), on(scale), on(statistics), on(dy), write, on(dscale), on(dshift),
                                 dx_write, on(dx));
    });
  }
  void max_pool_forward(const Window& window, const Tensor& x, const Tensor& y) override {
    run([&](auto& on) { real_->max_pool_forward(window, on(x), on(y)); });
  }
  void max_pool_backward(const Window& window, const Tensor& x, const Tensor& y, const Tensor& dy,
                         const Tensor& dx) override {
    run([&](auto& on) { real_->max_pool_backward(window, on(x), on(y), on(dy), on(dx)); });
  }
  void average_pool_forward(const Tensor& x, const Tensor& y) override {
    run([&](auto& on) { real_->average_pool_forward(on(x), on(y)); });
  }
  void average_pool_backward(const Tensor& dy, const Tensor& dx) override {
    run([&](auto& on) { real_->average_pool_backward(on(dy), on(dx)); });
  }
  void add(const Tensor& x, const Tensor& y) override {
    run([&](auto& on) { real_->add(on(x), on(y)); });
  }
  void relu_backward(const Tensor& y, const Tensor& dy) override {
    run([&](auto& on) { real_->relu_backward(on(y), on(dy)); });
  }
  void gelu_forward(Gelu form, const Tensor& x, const Tensor& y) override {
    run([&](auto& on) { real_->gelu_forward(form, on(x), on(y)); });
  }
  void gelu_backward(Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) override {
    run([&](auto& on) { real_->gelu_backward(form, on(x), on(dy), on(dx)); });
  }
  void gather_rows(const Tensor& table, const Tensor& indices, GradientWrite write,
                   const Tensor& y) override {
    run([&](auto& on) { real_->gather_rows(on(table), on(indices), write, on(y)); });
  }
  void scatter_add_rows(const Tensor& dy, const Tensor& indices, GradientWrite write,
                        const Tensor& dtable) override {
    run([&](auto& on) { real_->scatter_add_rows(on(dy), on(indices), write, on(dtable)); });
  }
  void attention_forward(const AttentionShape& shape, const Tensor& qkv, const Tensor& statistics,
                         const Tensor& y) override {
    run([&](auto& on) { real_->attention_forward(shape, on(qkv), on(statistics), on(y)); });
  }
  void attention_backward(const AttentionShape& shape, const Tensor& qkv, const Tensor& y,
                          const Tensor& statistics, const Tensor& dy, const Tensor& dqkv) override {
    run([&](auto& on) {
      real_->attention_backward(shape, on(qkv), on(y), on(statistics), on(dy), on(dqkv));
    });
  }
  void softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss, float scale,
                             const Tensor& dlogits) override {
    run([&](auto& on) {
      real_->softmax_cross_entropy(on(logits), on(labels), on(loss), scale, on(dlogits));
    });
  }

 private:
  static const std::byte* bytes(const void* data) { return static_cast<const std::byte*>(data); }
  static std::byte* bytes(void* data) { return static_cast<std::byte*>(data); }

  template <typename Call>
  void run(const Call& call) {
    Copies copies(*real_);
    call(copies);
    copies.bring_back();
  }

  std::unique_ptr<Device> real_;
};

}  // namespace

std::unique_ptr<Device> bare_device_under_test() {
  return make_device(name_under_test());
}

std::unique_ptr<Device> device_under_test() {
  auto device = bare_device_under_test();
  if (device->is_host()) return device;
  return std::make_unique<Mirrored>(std::move(device));
}

std::optional<std::uint64_t> work_on_host(const char* kind) {
  void* const library = dlopen("libcuda_on_host.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  const auto count = reinterpret_cast<std::uint64_t (*)(const char*)>(dlsym(library, "ddbench_host_work"));
  dlclose(library);
  return count(kind);
}

bool refuses_wrong_indices() {
  return name_under_test() == "cpu";
}

}  // namespace ddbench::test
