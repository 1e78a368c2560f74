#pragma once

#include <string>

#include "harness/model/architectures/registry.h"

namespace ddbench::workload {

WorkloadInfo mlp_info();
WorkloadInfo resnet18_info();
WorkloadInfo resnet50_info();
/// `size`: "nano", "124m", "355m", "774m" or "1558m".
WorkloadInfo gpt2_info(const std::string& size);
/// `size`: "base" or "large".
WorkloadInfo bert_info(const std::string& size);

/// The option "recompute" of models that are made of blocks: none, or blocks. Throws Error{kBadInput} for another value.
bool recompute_option(std::string_view workload, const WorkloadOptions& options);
OptionInfo recompute_info();

}  // namespace ddbench::workload
