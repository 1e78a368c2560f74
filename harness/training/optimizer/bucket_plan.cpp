#include "harness/training/optimizer/bucket_plan.h"

namespace ddbench::ddp {

std::vector<Bucket> plan_buckets(std::span<const std::int64_t> parameter_bytes, std::int64_t first_cap_bytes,
                                 std::int64_t cap_bytes) {
  std::vector<Bucket> buckets;
  Bucket open;
  std::int64_t open_bytes = 0;
  for (std::size_t parameter = parameter_bytes.size(); parameter-- > 0;) {
    open.push_back(parameter);
    open_bytes += parameter_bytes[parameter];
    const std::int64_t cap = buckets.empty() ? first_cap_bytes : cap_bytes;
    if (open_bytes < cap && parameter > 0) continue;
    buckets.push_back(std::move(open));
    open.clear();
    open_bytes = 0;
  }
  return buckets;
}

}  // namespace ddbench::ddp
