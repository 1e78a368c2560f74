#include "analyzer/import/nsys/nvtx_text.h"

#include <algorithm>

#include "core/text/number.h"

namespace ddbench::imports {

NvtxText parse_nvtx_text(std::string_view text) noexcept {
  constexpr std::string_view kSequence = ", seq = ";
  std::size_t end = text.size();
  for (const std::string_view key : {kSequence, std::string_view(", op_id = "), std::string_view(", sizes = ")})
    end = std::min(end, text.find(key));
  NvtxText parsed{text.substr(0, end), std::nullopt};
  if (const std::size_t at = text.find(kSequence); at != std::string_view::npos) {
    const auto number = leading_number<std::int64_t>(text.substr(at + kSequence.size()));
    if (number && number->value >= 0) parsed.sequence = static_cast<std::uint64_t>(number->value);
  }
  return parsed;
}

}  // namespace ddbench::imports
