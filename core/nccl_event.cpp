#include "core/nccl_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/text/number.h"

namespace ddbench {
namespace {

struct Function {
  std::string_view in_nccl;
  std::string_view word;
};

// In the order of their numbers: append. Keys of stored runs hold them.
constexpr std::array kFunctions = {
    Function{"AllReduce", "all_reduce"},
    Function{"AllGather", "all_gather"},
    Function{"ReduceScatter", "reduce_scatter"},
    Function{"Broadcast", "broadcast"},
    Function{"Reduce", "reduce"},
    Function{"SendRecv", "send_recv"},
    Function{"Send", "send"},
    Function{"Recv", "recv"},
    Function{"AlltoAll", "all_to_all"},
    Function{"Gather", "gather"},
    Function{"Scatter", "scatter"},
    Function{"AllGatherV", "all_gather_v"},
};
constexpr std::string_view kPrefix = "nccl/";

bool starts_with_nccl(std::string_view name) noexcept {
  constexpr std::string_view kNccl = "nccl";
  if (name.size() < kNccl.size()) return false;
  for (std::size_t i = 0; i < kNccl.size(); ++i) {
    if ((name[i] | 0x20) != kNccl[i]) return false;
  }
  return true;
}

/// "_Z39ncclDevKernel_..." without what C++ puts before the name.
std::string_view without_mangling(std::string_view name) noexcept {
  if (!name.starts_with("_Z")) return name;
  name.remove_prefix(2);
  while (!name.empty() && (name.front() == 'N' || (name.front() >= '0' && name.front() <= '9'))) {
    name.remove_prefix(1);
  }
  return name;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string part(std::string text) {
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

}  // namespace

std::string_view nccl_function(std::string_view name_in_nccl) noexcept {
  for (const Function& function : kFunctions) {
    if (function.in_nccl == name_in_nccl) return function.word;
  }
  return {};
}

bool is_named_by_engine(std::string_view function) noexcept {
  return function == "push" || function == "pull" || function == "negotiate";
}

int nccl_function_number(std::string_view function) noexcept {
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    if (kFunctions[i].word == function) return static_cast<int>(i) + 1;
  }
  return 0;
}

std::optional<std::string_view> nccl_kernel_function(std::string_view kernel) noexcept {
  const std::string_view name = without_mangling(kernel);
  if (!starts_with_nccl(name)) return std::nullopt;
  // Several spellings are in use (ncclDevKernel_AllReduce_*, ncclKernel_*, ncclSymkDevKernel_*,
  // ncclAllReduceRingLLKernel_*): the longest function in the name is it.
  const Function* longest = nullptr;
  for (const Function& function : kFunctions) {
    if (name.find(function.in_nccl) == std::string_view::npos) continue;
    if (longest == nullptr || function.in_nccl.size() > longest->in_nccl.size()) longest = &function;
  }
  if (longest != nullptr) return longest->word;
  return name.find("Generic") != std::string_view::npos ? "generic" : "";
}

std::string nccl_event_name(const NcclEvent& event) {
  return fmt::format("{}{}/{}/{}/{}/{}", kPrefix, part(event.function), part(event.algorithm), part(event.protocol),
                     event.channels, part(event.transport));
}

std::optional<NcclEvent> parse_nccl_event(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::vector<std::string_view> parts = split(name.substr(kPrefix.size()), '/');
  if (parts.size() != 5) return std::nullopt;
  const auto channels = number_from<decltype(NcclEvent::channels)>(parts[3]);
  if (!channels) return std::nullopt;
  return NcclEvent{std::string(parts[0]), std::string(parts[1]), std::string(parts[2]), *channels,
                   std::string(parts[4])};
}

}  // namespace ddbench
