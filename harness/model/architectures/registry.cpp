#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "harness/model/architectures/models.h"
#include "harness/model/architectures/registry.h"

namespace ddbench::workload {

const std::vector<WorkloadInfo>& workloads() {
  static const std::vector<WorkloadInfo> all{
      mlp_info(),        resnet18_info(),   resnet50_info(),    gpt2_info("nano"), gpt2_info("124m"),
      gpt2_info("355m"), gpt2_info("774m"), gpt2_info("1558m"), bert_info("base"), bert_info("large"),
  };
  return all;
}

namespace {

template <typename Item>
std::string names(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ", ") + item.name;
  return text;
}

template <typename Item>
const Item* find(const std::vector<Item>& items, std::string_view name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

std::unique_ptr<Workload> make_workload(std::string_view name, const WorkloadOptions& options) {
  const WorkloadInfo* const info = find(workloads(), name);
  if (info == nullptr) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("workload \"{}\" is not known; workloads: {}", name, names(workloads())));
  }
  for (const auto& [option, value] : options) {
    if (find(info->options, option) != nullptr) continue;
    throw Error(ErrorCode::kBadInput, fmt::format("workload {} has no option \"{}\"; options: {}", name,
                                                  option, names(info->options)));
  }
  return info->make(options);
}

std::unique_ptr<Workload> make_workload(const RunCase& run_case) {
  return make_workload(work_name(run_case.work), work_options(run_case.work));
}

bool recompute_option(std::string_view workload, const WorkloadOptions& options) {
  const auto found = options.find("recompute");
  if (found == options.end() || found->second == "none") return false;
  if (found->second == "blocks") return true;
  throw Error(ErrorCode::kBadInput, fmt::format("workload {}: recompute is \"{}\", but it must be none or blocks",
                                                workload, found->second));
}

OptionInfo recompute_info() {
  return {"recompute", "none", "blocks: activations inside of blocks are not kept, but computed again in backward"};
}

}  // namespace ddbench::workload
