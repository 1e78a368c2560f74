#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ddbench::imports {

/// The text of a range that torch.autograd.profiler.emit_nvtx made: "aten::mm, seq = 12, op_id = 345".
struct NvtxText {
  std::string_view name;                  ///< "aten::mm"; the whole text of another range
  std::optional<std::uint64_t> sequence;  ///< what autograd numbers an operator and its backward by
};
NvtxText parse_nvtx_text(std::string_view text) noexcept;

}  // namespace ddbench::imports
