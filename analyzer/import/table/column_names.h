#pragma once

#include <string>
#include <string_view>

namespace ddbench::imports {

/// A heading as this program knows it.
struct KnownColumn {
  std::string name;  ///< "gpus", "throughput", ...
  std::string unit;  ///< of a throughput whose heading is its unit: "images/s"
};

/// The known column that a heading of a published table means: "Num GPUs", "world_size", "batch size per GPU", "images/sec",
/// "tokens_per_second_per_gpu"; `heading` without its unit in brackets. Its own text in lower case, with "_" for blanks and
/// hyphens, if it means none of them.
KnownColumn known_column(std::string_view heading);

}  // namespace ddbench::imports
