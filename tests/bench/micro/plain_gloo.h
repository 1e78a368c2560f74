#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

namespace ddbench::bench {

/// All-reduces floats in place with Gloo itself, as its users write it: no wrapper of ours. The ranks find
/// each other through files in `directory`.
std::function<void(float* data, std::size_t count)> plain_gloo_all_reduce(
    int rank, int world, const std::filesystem::path& directory);

}  // namespace ddbench::bench
