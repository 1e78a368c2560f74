#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench {

/// What a process of a program loaded in one pass through its training data: of the DataLoader before its first backward pass.
struct LoaderEpoch {
  enum class Order : std::uint8_t {
    kNotKnown,     ///< a sampler of the program, or a data set without indices
    kShuffled,     ///< RandomSampler
    kDistributed,  ///< DistributedSampler with shuffle
    kFixed,        ///< SequentialSampler, DistributedSampler without shuffle
  };
  static constexpr std::int64_t kLargestEpoch = 1000;

  std::int64_t epoch = 0;     ///< passes of this process, from 0
  std::int64_t samples = -1;  ///< of the data set; below 0: not known
  Order order = Order::kNotKnown;
  std::int64_t indices = 0;         ///< that `hash` is of: the first ones of the pass
  std::string hash;                 ///< 16 hexadecimal digits; empty without indices
  std::vector<std::string> values;  ///< likewise, of some values of the first batch, one for each of its tensors; "-": a tensor
                                    ///< whose samples can hardly be distinguished
  std::int64_t dataset = -1;  ///< of those that this process trained on, from 0; below 0: not known
  bool ended = false;         ///< the loader had no more batches; a pass may be reported before that as well
  friend bool operator==(const LoaderEpoch&, const LoaderEpoch&) = default;
};

/// The name that a process interns to report one (core/name_table.h):
/// "loader: 0 60000 distributed 64 0123456789abcdef 0 whole -,fedcba9876543210". Written by probes/python/ddbench_inputs.py.
std::string loader_epoch_name(const LoaderEpoch& epoch);
/// Nothing where `name` is another name, or one with numbers that cannot be.
std::optional<LoaderEpoch> parse_loader_epoch(std::string_view name);

}  // namespace ddbench
