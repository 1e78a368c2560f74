#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "harness/model/dataset.h"
#include "harness/model/layers/network.h"
#include "harness/model/architectures/registry.h"

namespace ddbench::workload {

/// The dimensions of a transformer, and the settings that a user may change.
struct TransformerShape {
  const char* size;
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t sequence;  ///< tokens a sample
  std::int64_t vocabulary;
  std::int64_t positions;  ///< rows of the table of positions: the sequence or more
  bool recompute = false;  ///< activations inside of blocks, in backward
};

/// A model that reads sequences of tokens: from the data set, or synthetic ones.
struct Transformer {
  std::string name;         ///< of the workload: "gpt2-124m"
  std::string description;  ///< "GPT-2 language model"
  std::string hidden;       ///< what the option `hidden` means
  std::function<void(Network& network, const TransformerShape& shape)> describe;
  /// What is learnt from the sequences; empty: the next token.
  std::function<std::unique_ptr<Dataset>(std::unique_ptr<Dataset> sequences, std::uint64_t seed)> task;
};

/// The workload, with the options sequence, layers, hidden, heads and vocabulary; their defaults are `shape`.
WorkloadInfo transformer_info(const Transformer& transformer, const TransformerShape& shape);

}  // namespace ddbench::workload
