#include "analyzer/import/trace/collective_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

// Looked for in this order in a name without "_" and in lower case: "reduce" is in "reducescatter".
constexpr std::array kFunctions = {Word{"allreduce", "all_reduce"}, Word{"reducescatter", "reduce_scatter"},
                                   Word{"allgather", "all_gather"}, Word{"alltoall", "all_to_all"},
                                   Word{"broadcast", "broadcast"},  Word{"reduce", "reduce"},
                                   Word{"gather", "gather"},        Word{"scatter", "scatter"},
                                   Word{"barrier", "barrier"},      Word{"sendrecv", "send_recv"},
                                   Word{"send", "send"},            Word{"recv", "recv"}};

struct Type {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr auto kTypes = std::to_array<Type>({
    {"bfloat16", 2},
    {"half", 2},
    {"float8", 1},
    {"float16", 2},
    {"float64", 8},
    {"float", 4},
    {"double", 8},
    {"longint", 8},
    {"long", 8},
    {"int64", 8},
    {"int32", 4},
    {"int16", 2},
    {"int8", 1},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"unsignedchar", 1},
    {"signedchar", 1},
    {"char", 1},
    {"byte", 1},
    {"bool", 1},
    {"short", 2},
    {"int", 4},
});

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

}  // namespace

std::string_view collective_function(std::string_view name) noexcept {
  const std::string text = plain(name);
  for (const auto& [part, function] : kFunctions) {
    if (text.find(part) != std::string::npos) return function;
  }
  return {};
}

std::uint64_t bytes_of_type(std::string_view type) noexcept {
  const std::string text = plain(type);
  for (const auto& [part, bytes] : kTypes) {
    if (text.starts_with(part) || (text.starts_with("c10") && std::string_view(text).substr(3).starts_with(part)))
      return bytes;
  }
  return 0;
}

std::uint64_t bytes_of(const CollectiveArguments& arguments) noexcept {
  std::uint64_t bytes = 0;
  const std::uint64_t elements = std::max(arguments.in_elements, arguments.out_elements);
  if (__builtin_mul_overflow(elements, bytes_of_type(arguments.dtype), &bytes) || bytes > kMostBytes) return 0;
  return bytes;
}

std::optional<std::uint64_t> bytes_of_all_ranks(std::string_view function, std::uint64_t message_bytes, int ranks) noexcept {
  std::uint64_t bytes = message_bytes;
  if (function == "all_gather" || function == "reduce_scatter" || function == "all_to_all") {
    if (ranks < 1 || __builtin_mul_overflow(message_bytes, static_cast<std::uint64_t>(ranks), &bytes)) return std::nullopt;
  }
  return bytes <= kMostBytes ? std::optional(bytes) : std::nullopt;
}

bool is_group_function(std::string_view function) noexcept {
  return !function.empty() && function != "send" && function != "recv" && function != "send_recv" &&
         function != "generic";
}

}  // namespace ddbench::imports
