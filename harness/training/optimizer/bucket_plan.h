#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddbench::ddp {

/// Indices of the parameters whose gradients share a bucket, in the order in which they lie in it.
using Bucket = std::vector<std::size_t>;

/// How PyTorch's DDP groups gradients: parameters in reverse order of registration, because backward finishes
/// them about in that order; a bucket closes when adding a gradient makes it reach or exceed its cap, which
/// is `first_cap_bytes` for the first and `cap_bytes` for the others.
/// (torch/csrc/distributed/c10d/reducer.cpp: compute_bucket_assignment_by_size and rebuild_buckets.) Buckets
/// are in the order in which they are reduced; every parameter is in exactly one.
std::vector<Bucket> plan_buckets(std::span<const std::int64_t> parameter_bytes, std::int64_t first_cap_bytes,
                                 std::int64_t cap_bytes);

}  // namespace ddbench::ddp
