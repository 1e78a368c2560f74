#include "core/library_error/outside_json.h"

#include <fmt/format.h>

#include "core/error.h"

namespace ddbench {
namespace {

constexpr int kMostLevels = 64;

}  // namespace

void check_outside_json(std::string_view json, std::size_t most_keys) {
  int levels = 0;
  std::size_t keys = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
      continue;
    }
    if (c == '"') in_text = true;
    if (c == ':') ++keys;
    if (c == '[' || c == '{') ++levels;
    if (c == ']' || c == '}') --levels;
    if (levels > kMostLevels) throw Error(ErrorCode::kBadInput, fmt::format("its JSON is nested more than {} levels deep", kMostLevels));
    if (keys > most_keys) throw Error(ErrorCode::kBadInput, fmt::format("its JSON has more than {} keys", most_keys));
  }
}

}  // namespace ddbench
