// A library as a wheel brings it: it has a BLAS and a Gloo of its own inside, whose names others see, and
// calls them through its PLT. This Gloo's context has no virtual destructor, as that of PyTorch's wheels.
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gloo {

struct Context {
  int rank;
  int size;
};

struct UnboundBuffer {
  virtual ~UnboundBuffer() = default;
  void* memory = nullptr;
  std::size_t size = 0;
};

struct GatherOptions {
  std::shared_ptr<Context> context;
  std::unique_ptr<UnboundBuffer> in;
  std::unique_ptr<UnboundBuffer> out;
  std::size_t element_size = 4;
  int root = 0;
  std::uint32_t tag = 0;
  std::int64_t timeout_ms = 1000;
};

int gathers = 0;
void gather(GatherOptions&) {
  ++gathers;
}

}  // namespace gloo

extern "C" {

// LIBRARY: which of several libraries with the same names this is.
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
            const int*, const float*, const int*, const float*, float* result, const int*) {
  *result = LIBRARY;
}

int multiply() {
  const int one = 1;
  const float factor = 1;
  float result = 0;
  sgemm_("N", "N", &one, &one, &one, &factor, &factor, &one, &factor, &one, &factor, &result, &one);
  return static_cast<int>(result);
}

int gather_among(int rank, int size, int bytes) {
  static const auto context = std::make_shared<gloo::Context>(gloo::Context{rank, size});
  gloo::GatherOptions options;
  options.context = context;
  options.in = std::make_unique<gloo::UnboundBuffer>();
  options.in->size = static_cast<std::size_t>(bytes);
  gloo::gather(options);
  return gloo::gathers;
}
}
