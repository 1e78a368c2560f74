#include "harness/training/strategy/parameter_schedule.h"

#include <algorithm>
#include <optional>

namespace ddbench::ddp {
namespace {

struct Stretch {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The first and the last moment in [begin, end) that read parameters of each bucket.
std::vector<std::optional<Stretch>> stretches(const workload::ParameterUses& uses,
                                              const std::vector<std::size_t>& bucket_of, std::size_t buckets,
                                              std::size_t begin, std::size_t end) {
  std::vector<std::optional<Stretch>> result(buckets);
  for (std::size_t moment = begin; moment < end; ++moment) {
    for (const std::size_t parameter : uses.moments[moment]) {
      std::optional<Stretch>& stretch = result[bucket_of[parameter]];
      if (!stretch) stretch = Stretch{moment, moment};
      stretch->last = moment;
    }
  }
  return result;
}

workload::Lifetime lifetime(std::int64_t bytes, std::size_t first, std::size_t last) {
  return {bytes, static_cast<int>(first), static_cast<int>(last)};
}

/// Those that are first read at one moment begin together, when the ones before them are first read, but not while the
/// values of one's own gather before are there: they would take its memory twice.
void set_begins(std::vector<ParameterSchedule::Gather>& gathers, bool overlap) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < gathers.size();) {
    const std::size_t moment = gathers[i].first;
    std::size_t begins = overlap ? before : moment;
    std::size_t end = i;
    for (; end < gathers.size() && gathers[end].first == moment; ++end) {
      for (std::size_t earlier = 0; earlier < i; ++earlier) {
        if (gathers[earlier].bucket == gathers[end].bucket) begins = std::max(begins, gathers[earlier].last + 1);
      }
    }
    for (; i < end; ++i) gathers[i].begins = begins;
    before = moment;
  }
}

void place_values(ParameterSchedule& schedule, std::span<const std::int64_t> bucket_bytes, bool overlap) {
  auto& gathers = schedule.gathers;
  std::stable_sort(gathers.begin(), gathers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  set_begins(gathers, overlap);
  std::vector<workload::Lifetime> pieces;
  for (const ParameterSchedule::Gather& gather : gathers) {
    pieces.push_back(lifetime(bucket_bytes[gather.bucket], gather.begins, gather.last));
  }
  const workload::MemoryPlan memory = workload::plan_memory(pieces);
  for (std::size_t i = 0; i < gathers.size(); ++i) gathers[i].offset = memory.offsets[i];
  schedule.value_bytes = memory.bytes;
}

void place_gradients(ParameterSchedule& schedule, const std::vector<std::optional<Stretch>>& written,
                     std::span<const std::int64_t> bucket_bytes, bool overlap) {
  const std::size_t buckets = bucket_bytes.size();
  std::vector<std::size_t> launched(buckets);  // buckets are reduced in their order
  for (std::size_t i = 0; i < buckets; ++i) {
    launched[i] = std::max(written[i] ? written[i]->last : 0, i > 0 ? launched[i - 1] : 0);
  }
  std::vector<workload::Lifetime> pieces;
  for (std::size_t i = 0; i < buckets; ++i) {
    const std::size_t first = written[i] ? written[i]->first : launched[i];
    const std::size_t last = overlap && i + 1 < buckets ? launched[i + 1] : launched[i];
    schedule.gradients.push_back({first, last, 0});
    pieces.push_back(lifetime(bucket_bytes[i], first, last));
  }
  const workload::MemoryPlan memory = workload::plan_memory(pieces);
  for (std::size_t i = 0; i < buckets; ++i) schedule.gradients[i].offset = memory.offsets[i];
  schedule.gradient_bytes = memory.bytes;
}

}  // namespace

ParameterSchedule schedule_parameters(const workload::ParameterUses& uses, const std::vector<Bucket>& plan,
                                      std::span<const std::int64_t> bucket_bytes, bool overlap) {
  std::vector<std::size_t> bucket_of;
  for (std::size_t bucket = 0; bucket < plan.size(); ++bucket) {
    for (const std::size_t parameter : plan[bucket]) {
      bucket_of.resize(std::max(bucket_of.size(), parameter + 1));
      bucket_of[parameter] = bucket;
    }
  }
  ParameterSchedule schedule;
  const auto forward = stretches(uses, bucket_of, plan.size(), 0, uses.forward);
  const auto backward = stretches(uses, bucket_of, plan.size(), uses.forward, uses.moments.size());
  for (std::size_t bucket = 0; bucket < plan.size(); ++bucket) {
    for (const auto* pass : {&forward, &backward}) {
      if (const auto& stretch = (*pass)[bucket]) schedule.gathers.push_back({bucket, 0, stretch->first, stretch->last, 0});
    }
  }
  place_values(schedule, bucket_bytes, overlap);
  place_gradients(schedule, backward, bucket_bytes, overlap);
  return schedule;
}

}  // namespace ddbench::ddp
