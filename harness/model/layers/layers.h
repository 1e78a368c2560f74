#pragma once

#include <cstdint>
#include <string>

#include "harness/device/device.h"
#include "harness/model/layers/network.h"

/// The layers that models are composed of. Each adds itself to `network`, with its parameters under `name`,
/// and returns what it computes from `x`.
namespace ddbench::workload {

struct LinearOptions {
  device::Activation activation = device::Activation::kNone;
  bool bias = true;
  Initial weight{};  ///< that of torch.nn.Linear by default
  Initial bias_values{};
};

/// torch.nn.Linear: name.weight [out, in], name.bias.
Value linear(Network& network, const std::string& name, Value x, std::int64_t out,
             const LinearOptions& options = {});
/// Logits of the rows of an embedding table [V, C], which is its weight too (Press, Wolf 2017), with
/// name.bias where `bias`.
Value tied_linear(Network& network, const std::string& name, Value x, ParameterIndex table, bool bias);

Value gelu(Network& network, const std::string& name, Value x, device::Gelu form);

/// Two linear layers with GELU between them, which devices may compute with the products.
struct FeedForward {
  std::string expand, gelu, contract;  ///< names of the layers
  std::int64_t hidden = 0;
  device::Gelu form = device::Gelu::kErf;
  LinearOptions of_expand{};
  LinearOptions of_contract{};
};
/// As wide as `x`.
Value feed_forward(Network& network, const FeedForward& layers, Value x);

/// torch.nn.LayerNorm: name.weight, name.bias.
Value layer_norm(Network& network, const std::string& name, Value x, float epsilon);
struct SumAndNorm {
  Value sum;
  Value norm;
};
/// add() and layer_norm() of the sum, which devices may compute in one pass.
SumAndNorm add_layer_norm(Network& network, const std::string& add_name, const std::string& norm_name, Value x,
                          Value branch, float epsilon);
/// x + branch, in the memory of `branch`. Nothing may read `x` after it.
Value add(Network& network, const std::string& name, Value x, Value branch);

struct ConvolutionOptions {
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};

/// torch.nn.Conv2d without bias: name.weight, OHWI; initialized with kaiming_normal_(fan_out, relu).
Value convolution(Network& network, const std::string& name, Value x, std::int64_t out,
                  const ConvolutionOptions& options);
/// torch.nn.BatchNorm2d with what comes after it: name.weight, name.bias.
Value batch_norm(Network& network, const std::string& name, Value x, device::Activation activation);
/// relu(batch norm of x + residual). Nothing may read `residual` after it.
Value batch_norm_add_relu(Network& network, const std::string& name, Value x, Value residual);
Value max_pool(Network& network, const std::string& name, Value x, const ConvolutionOptions& window);
/// The mean of each channel over the image.
Value average_pool(Network& network, const std::string& name, Value x);

/// A table of rows, normal with this deviation; its name is the parameter's.
ParameterIndex embedding_table(Network& network, const std::string& name, std::int64_t rows,
                               std::int64_t columns, float deviation);

struct Embeddings {
  ParameterIndex tokens = 0;     ///< [vocabulary, C]: by the batch's token
  ParameterIndex positions = 0;  ///< [positions, C]: by the token's place
  bool has_types = false;        ///< BERT's segments: all of them the first
  ParameterIndex types = 0;
  std::int64_t sequence = 0;
  std::int64_t columns = 0;
};

/// The sum of the rows of its tables, for every token of the batch.
Value embed(Network& network, const std::string& name, const Embeddings& embeddings);

/// Multi-head attention over queries, keys and values that lie side by side in x [T, 3C].
Value attention(Network& network, const std::string& name, Value qkv, std::int64_t heads,
                device::AttentionMask mask);

/// The model's loss: the mean over the labels that count. The gradient takes the place of the logits.
void cross_entropy(Network& network, Value logits);

}  // namespace ddbench::workload
