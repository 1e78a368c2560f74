#pragma once

#include <map>
#include <string>
#include <vector>

#include "ddbench/store/run_store.h"

namespace ddbench::analyzer {

/// Adds to `facts` what ranks have told as names among those of their spans, "<fact>: <value>": what became
/// of the CUDA graph, why there are no kernels, NCCL's settings.
void add_told_facts(const store::RunStore& store, const store::RunId& run,
                    const std::vector<store::RankRecord>& ranks, std::map<std::string, std::string>& facts);

}  // namespace ddbench::analyzer
