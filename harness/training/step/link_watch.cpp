#include "harness/training/step/link_watch.h"

#include <algorithm>

#include "core/clock.h"
#include "core/run_case/link_counters.h"

namespace ddbench::ddp {
namespace {

constexpr std::uint64_t kLeastBytes = 4096;  // since the reading before: barriers and greetings are no use of a link

}  // namespace

LinkWatch::Link* LinkWatch::link_to(const collective::LinkCounters& counters, std::uint32_t step) {
  const auto known = std::find_if(links_.begin(), links_.end(), [&](const Link& link) { return link.peer == counters.peer; });
  if (known != links_.end()) return &*known;
  if (links_.size() == kMostLinks) return nullptr;
  const int number = static_cast<int>(links_.size());
  recorder_.record_scalar(link_peer_name(number), step, counters.peer);
  links_.push_back({counters.peer, 0, link_bytes_name(number), link_busy_name(number)});
  return &links_.back();
}

void LinkWatch::end_step(std::uint32_t step, bool is_probed) {
  if (!is_probed || step < next_step_) return;
  next_step_ = step + kEvery;
  const std::int64_t begin_ns = now_ns();
  communicator_.read_links(counters_);
  for (const collective::LinkCounters& counters : counters_) {
    if (counters.acknowledged_bytes < kLeastBytes) continue;
    Link* const link = link_to(counters, step);
    if (link == nullptr || counters.acknowledged_bytes < link->reported_bytes + kLeastBytes) continue;
    link->reported_bytes = counters.acknowledged_bytes;
    recorder_.record_scalar(link->bytes_name, step, static_cast<double>(counters.acknowledged_bytes));
    recorder_.record_scalar(link->busy_name, step, static_cast<double>(counters.busy_ns));
  }
  cost_ns_ += now_ns() - begin_ns;
}

}  // namespace ddbench::ddp
