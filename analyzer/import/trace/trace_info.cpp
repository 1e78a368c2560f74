#include "analyzer/import/trace/trace_info.h"

#include <cctype>
#include <string_view>

#include "core/text/number.h"

namespace ddbench::imports {
namespace {

constexpr int kMostRanks = 1 << 20;

}  // namespace

std::optional<int> rank_in_path(const std::filesystem::path& file) {
  const std::string text = file.string();
  for (std::size_t at = text.rfind("rank"); at != std::string::npos; at = at == 0 ? at : text.rfind("rank", at - 1)) {
    const bool is_in_word = at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0;  // "/home/frank3/trace.json"
    std::string_view rest = std::string_view(text).substr(at + 4);
    if (!rest.empty() && (rest.front() == '_' || rest.front() == '-' || rest.front() == '.' || rest.front() == '='))
      rest.remove_prefix(1);
    if (const auto number = leading_number<int>(rest); !is_in_word && number && number->value >= 0 && number->value < kMostRanks)
      return number->value;
    if (at == 0) break;
  }
  return std::nullopt;
}

}  // namespace ddbench::imports
