// Residual networks (He et al. 2015) as torchvision has them: "v1.5", with the stride in the 3x3 convolution
// of a bottleneck. For 32x32 images the stem is one 3x3 convolution without pooling.
#include <fmt/format.h>

#include <array>

#include "core/error.h"
#include "harness/model/architectures/models.h"
#include "harness/model/data/datasets.h"
#include "harness/model/layers/layers.h"
#include "harness/model/layers/network_workload.h"
#include "harness/model/options.h"

namespace ddbench::workload {
namespace {

using device::Activation;

constexpr std::int64_t kSmallImage = 32;
constexpr std::int64_t kLargeImage = 224;

struct Shape {
  bool bottleneck = false;
  std::array<int, 4> blocks;  ///< of each stage
  std::int64_t image = kLargeImage;
  std::int64_t classes = 1000;
  std::int64_t width = 64;  ///< channels of the stem
  bool recompute = false;   ///< activations inside of blocks, in backward
};

Value shortcut(Network& network, const std::string& name, Value x, std::int64_t out, std::int64_t stride) {
  if (stride == 1 && x.columns == out) return x;
  const Value y = convolution(network, name + ".downsample.0", x, out, {.kernel = 1, .stride = stride});
  return batch_norm(network, name + ".downsample.1", y, Activation::kNone);
}

Value basic_block(Network& network, const std::string& name, Value x, std::int64_t width,
                  std::int64_t stride) {
  Value y = convolution(network, name + ".conv1", x, width, {.kernel = 3, .stride = stride, .padding = 1});
  y = batch_norm(network, name + ".bn1", y, Activation::kRelu);
  y = convolution(network, name + ".conv2", y, width, {.kernel = 3, .padding = 1});
  return batch_norm_add_relu(network, name + ".bn2", y, shortcut(network, name, x, width, stride));
}

Value bottleneck_block(Network& network, const std::string& name, Value x, std::int64_t width,
                       std::int64_t stride) {
  constexpr std::int64_t kExpansion = 4;
  Value y = convolution(network, name + ".conv1", x, width, {.kernel = 1});
  y = batch_norm(network, name + ".bn1", y, Activation::kRelu);
  y = convolution(network, name + ".conv2", y, width, {.kernel = 3, .stride = stride, .padding = 1});
  y = batch_norm(network, name + ".bn2", y, Activation::kRelu);
  y = convolution(network, name + ".conv3", y, kExpansion * width, {.kernel = 1});
  return batch_norm_add_relu(network, name + ".bn3", y,
                             shortcut(network, name, x, kExpansion * width, stride));
}

void describe(Network& network, const Shape& shape) {
  Value x = network.input(shape.image * shape.image, 3, shape.image, shape.image);
  if (shape.image == kSmallImage) {
    x = convolution(network, "conv1", x, shape.width, {.kernel = 3, .padding = 1});
    x = batch_norm(network, "bn1", x, Activation::kRelu);
  } else {
    x = convolution(network, "conv1", x, shape.width, {.kernel = 7, .stride = 2, .padding = 3});
    x = batch_norm(network, "bn1", x, Activation::kRelu);
    x = max_pool(network, "maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});
  }
  const auto block = shape.bottleneck ? bottleneck_block : basic_block;
  std::int64_t width = shape.width;
  for (std::size_t stage = 0; stage < shape.blocks.size(); ++stage, width *= 2) {
    for (int i = 0; i < shape.blocks[stage]; ++i) {
      network.begin_segment();
      x = block(network, fmt::format("layer{}.{}", stage + 1, i), x, width, stage > 0 && i == 0 ? 2 : 1);
      network.end_segment();
    }
  }
  x = average_pool(network, "avgpool", x);
  cross_entropy(network, linear(network, "fc", x, shape.classes));
}

std::unique_ptr<Dataset> make_dataset(const Shape& shape, const std::string& data, std::uint64_t seed) {
  if (data == "synthetic") {
    return make_synthetic_images(
        {.side = shape.image, .classes = static_cast<std::int32_t>(shape.classes), .seed = seed});
  }
  std::unique_ptr<Dataset> dataset = make_cifar10(data);
  if (shape.image == kSmallImage && shape.classes >= dataset->classes()) return dataset;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("the images in {} are 32 x 32 of 10 classes: give the options image=32 classes=10", data));
}

std::unique_ptr<Workload> make_resnet(const std::string& name, Shape shape, const WorkloadOptions& options) {
  shape.image = number_option(name, options, "image", kLargeImage, kSmallImage, kLargeImage);
  if (shape.image != kSmallImage && shape.image != kLargeImage) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("workload {}: image \"{}\" is not allowed; images are 224 (ImageNet) or 32 (CIFAR) "
                    "pixels wide and high",
                    name, shape.image));
  }
  shape.classes = number_option(name, options, "classes", 0, 0, 100'000);
  if (shape.classes == 0) shape.classes = shape.image == kSmallImage ? 10 : 1000;
  shape.width = number_option(name, options, "width", shape.width, 1, 4096);
  shape.recompute = recompute_option(name, options);
  return make_network_workload(
      {.describe =
           [shape](Network& network) {
             describe(network, shape);
             if (shape.recompute) network.recompute_segments();
           },
       .sample = {.features = shape.image * shape.image * 3},
       .make_dataset = [shape](const std::string& data,
                               std::uint64_t seed) { return make_dataset(shape, data, seed); }});
}

WorkloadInfo info(const std::string& name, const Shape& shape, const std::string& blocks) {
  return {
      .name = name,
      .description = fmt::format("residual network of torchvision: {}", blocks),
      .options = {{"image", "224", "pixels a side: 224 (ImageNet) or 32 (CIFAR, with a smaller stem)"},
                  {"classes", "0", "classes; 0: 1000, or 10 for image=32"},
                  {"width", "64", "channels of the stem, and of the first stage's 3x3 convolutions"},
                  recompute_info()},
      .make = [name, shape](const WorkloadOptions& options) { return make_resnet(name, shape, options); }};
}

}  // namespace

WorkloadInfo resnet18_info() {
  return info("resnet18", {.bottleneck = false, .blocks = {2, 2, 2, 2}}, "8 blocks of two 3x3 convolutions");
}

WorkloadInfo resnet50_info() {
  return info("resnet50", {.bottleneck = true, .blocks = {3, 4, 6, 3}},
              "16 bottleneck blocks of 1x1, 3x3 and 1x1 convolutions");
}

}  // namespace ddbench::workload
