#include "harness/training/step/run_queue_watch.h"

#include <utility>

#include "core/clock.h"
#include "core/facts/facts.h"

namespace ddbench::ddp {

RunQueueWatch::RunQueueWatch(host::Recorder& recorder, const std::vector<int>& communication_threads)
    : recorder_(recorder), main_(host::own_thread()) {
  for (const int thread : communication_threads) communication_.emplace_back(thread);
  if (const auto delay_ns = main_.read_ns(); !delay_ns) {
    recorder.intern(reported(fact_key<"cpu_wait.unavailable">, delay_ns.reason()));
  }
}

std::optional<CpuWait> RunQueueWatch::read() {
  const std::int64_t begin_ns = now_ns();
  const auto main_ns = main_.read_ns();
  if (!main_ns) return std::nullopt;
  CpuWait wait{*main_ns, 0};
  for (const host::RunQueueDelay& thread : communication_) {
    const auto delay_ns = thread.read_ns();
    if (!delay_ns) return std::nullopt;
    wait.communication_ns += *delay_ns;
  }
  cost_ns_ += now_ns() - begin_ns;
  return wait;
}

void RunQueueWatch::begin_step(bool is_probed) {
  if (is_probed && !before_) before_ = read();
}

void RunQueueWatch::end_step(std::uint32_t step, bool is_probed) {
  const std::optional<CpuWait> before = std::exchange(before_, std::nullopt);
  if (!is_probed) return;
  before_ = read();
  if (!before || !before_) return;
  const auto difference = [](std::int64_t from_ns, std::int64_t to_ns) {
    return static_cast<double>(to_ns - from_ns);
  };
  main_ns_ += before_->main_ns - before->main_ns;
  recorder_.record_scalar(kCpuWaitMain, step, difference(before->main_ns, before_->main_ns));
  recorder_.record_scalar(kCpuWaitCommunication, step,
                          difference(before->communication_ns, before_->communication_ns));
}

}  // namespace ddbench::ddp
