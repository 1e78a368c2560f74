#include "plain_gloo.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <memory>

namespace ddbench::bench {
namespace {

/// Gloo of 2025 takes the store by shared_ptr, earlier ones by reference.
template <typename Context, typename Store, typename Device>
void connect(Context& context, const std::shared_ptr<Store>& store, Device& device) {
  if constexpr (requires { context.connectFullMesh(*store, device); }) {
    context.connectFullMesh(*store, device);
  } else {
    context.connectFullMesh(store, device);
  }
}

}  // namespace

std::function<void(float*, std::size_t)> plain_gloo_all_reduce(int rank, int world,
                                                               const std::filesystem::path& directory) {
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  const auto context = std::make_shared<gloo::rendezvous::Context>(rank, world);
  connect(*context, std::make_shared<gloo::rendezvous::FileStore>(directory.string()), device);
  return [context, device](float* data, std::size_t count) {
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(data, count);
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
  };
}

}  // namespace ddbench::bench
